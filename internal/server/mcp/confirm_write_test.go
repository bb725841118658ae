package mcp_test

import (
	"context"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestConfirmStored runs a stored mutation that deletes, with its own tool and with stored_query_run, which
// offers the queries of a graph with many of them.
func TestConfirmStored(t *testing.T) {
	const question = "run forget_person, which deletes Person from the branch main"
	params := func(name string) map[string]any { return map[string]any{"name": name} }
	for _, tt := range []struct {
		tool      string
		threshold int
		args      func(query, name string) map[string]any
	}{
		{"", 100, func(_, name string) map[string]any { return map[string]any{"params": params(name)} }},
		{"stored_query_run", 1, func(query, name string) map[string]any {
			return map[string]any{"name": query, "params": params(name)}
		}},
	} {
		c := confirming(t)
		c.MetaThreshold = tt.threshold
		c.Catalog.Queries = append(c.Catalog.Queries, servedtest.Queries(t, "query forget_person($name: String) { delete Person where name = $name }\n")...)
		url := serve(t, c, mcp.Options{})
		call := func(s *sdk.ClientSession, query, name string, confirm any) (string, bool) {
			t.Helper()
			args, called := tt.args(query, name), tt.tool
			if called == "" {
				called = query
			}
			if confirm != nil {
				args["confirm"] = confirm
			}
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: called, Arguments: args})
			return textOf(t, res, err), res.IsError
		}

		var asked []string
		answer := &sdk.ElicitResult{Action: "decline"}
		form := forms(t, url, servedtest.Writer, func(p *sdk.ElicitParams) *sdk.ElicitResult {
			asked = append(asked, p.Message)
			return answer
		})
		if got, failed := call(form, "add_person", "zoe", nil); failed || len(asked) > 0 {
			t.Errorf("%s: an insert asks %q: %s", tt.tool, asked, got)
		}
		before := heads(t, c.Graph)
		if got, failed := call(form, "forget_person", "cyd", true); !failed || !strings.Contains(got, "the user did not agree") || heads(t, c.Graph) != before {
			t.Errorf("%s: a user who declines: %s", tt.tool, got)
		}
		answer = &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}
		if got, failed := call(form, "forget_person", "cyd", nil); failed || heads(t, c.Graph) == before {
			t.Errorf("%s: a user who agrees: %s", tt.tool, got)
		}
		if len(asked) != 2 || !strings.Contains(asked[0], question) || asked[0] != asked[1] {
			t.Errorf("%s asks %q", tt.tool, asked)
		}

		plain := connect(t, url, servedtest.Writer)
		before = heads(t, c.Graph)
		if got, failed := call(plain, "forget_person", "bob", nil); !failed || !strings.Contains(got, question) || heads(t, c.Graph) != before {
			t.Errorf("%s without confirm: %s", tt.tool, got)
		}
		if got, failed := call(plain, "forget_person", "bob", true); failed || heads(t, c.Graph) == before {
			t.Errorf("%s with confirm: %s", tt.tool, got)
		}
	}
}

// busy is a graph on which another writer commits right before a write, once it is armed.
type busy struct {
	engine.Graph
	branch string // of the other writer's commit; empty if it makes none
}

func (b *busy) other(ctx context.Context) error {
	if b.branch == "" {
		return nil
	}
	_, err := b.Graph.Load(ctx, strings.NewReader(`{"type":"Person","data":{"name":"intruder"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: b.branch}})
	b.branch = ""
	return err
}

func (b *busy) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if err := b.other(ctx); err != nil {
		return engine.Change{}, err
	}
	return b.Graph.Mutate(ctx, q, args, opts)
}

func (b *busy) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if err := b.other(ctx); err != nil {
		return nil, err
	}
	return b.Graph.Load(ctx, r, opts)
}

func (b *busy) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	if err := b.other(ctx); err != nil {
		return nil, err
	}
	return b.Graph.Merge(ctx, source, target, opts)
}

func (b *busy) ApplySchema(ctx context.Context, source string, s *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	if !opts.DryRun {
		if err := b.other(ctx); err != nil {
			return nil, err
		}
	}
	return b.Graph.ApplySchema(ctx, source, s, opts)
}

func (b *busy) DeleteBranch(ctx context.Context, name string) error {
	if err := b.other(ctx); err != nil {
		return err
	}
	return b.Graph.DeleteBranch(ctx, name)
}

func (b *busy) DeleteBranchAt(ctx context.Context, name, head string) error {
	if err := b.other(ctx); err != nil {
		return err
	}
	return b.Graph.DeleteBranchAt(ctx, name, head)
}

// TestConfirmedHead lets another writer commit after the user agreed and before the step. The step must not
// be taken then: the user is asked again, about the new head.
func TestConfirmedHead(t *testing.T) {
	branches := map[string][]string{"branch_merge": {"draft", "main"}, "branch_delete": {"draft"}, "graph_mutate": {"main"}, "graph_load": {"main"}, "schema_apply": {"main"}}
	for _, tt := range destructive {
		for _, branch := range branches[tt.tool] {
			for _, again := range []bool{false, true} {
				c := confirming(t)
				g := &busy{Graph: c.Graph}
				c.Graph = g
				var asked []string
				s := forms(t, serve(t, c, mcp.Options{}), servedtest.Writer, func(p *sdk.ElicitParams) *sdk.ElicitResult {
					asked = append(asked, p.Message)
					if len(asked) == 1 {
						g.branch = branch
					} else if !again {
						return &sdk.ElicitResult{Action: "decline"}
					}
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}
				})
				res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: tt.args})
				got := textOf(t, res, err)
				if len(asked) != 2 || !strings.Contains(asked[1], "the graph has changed since") || res.IsError == again {
					t.Errorf("%s after a commit on %s: asked %q, answered %s", tt.tool, branch, asked, got)
				}
				if again {
					continue
				}
				// Only the other writer has changed the graph.
				head, err := g.Commits(t.Context(), branch, engine.CommitRange{Limit: 1})
				if err != nil || len(head) != 1 || head[0].Actor != "" {
					t.Errorf("%s: the head of %s is %+v, %v", tt.tool, branch, head, err)
				}
			}
		}
	}
}
