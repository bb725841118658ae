package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// audited returns a graph with one person, the commit of that person, and the trail of the graph.
func audited(t *testing.T, quota int64) (*servedgraph.Graph, string, *audittrail.Trail) {
	t.Helper()
	ctx, c := t.Context(), servedtest.Config(t, builtin.All("1")...)
	g, err := embedded.Create(ctx, fs.NewMem(), "graph", servedtest.Source, servedtest.Schema(t), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	res, err := g.Load(ctx, strings.NewReader(`{"type":"Person","data":{"name":"secret"}}`), engine.LoadOptions{Mode: engine.Append})
	if err != nil {
		t.Fatal(err)
	}
	trail, err := audittrail.Open(ctx, audittrail.NewStore(&object.Memory{}, ""), audittrail.Options{
		Server: "one", Keep: audittrail.DefaultKeep, Quota: quota, Refuse: quota == 1, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trail.Close(context.Background()) })
	c.Graph, c.Trail = g, audit.Trail{To: trail}
	return servedtest.Graph(t, c), res.Commit.ID, trail
}

// TestAuditRecords makes calls whose records are easily wrong: those that are denied without saying so, and those that show data without rows.
func TestAuditRecords(t *testing.T) {
	g, commit, trail := audited(t, 1<<40)
	nobody := access.Named("act-nobody", nil)
	mcp := func(actor *access.Actor, name, args string) func() error {
		return func() error {
			_, err := g.Call(access.WithActor(t.Context(), actor), actor, name, json.RawMessage(args), encoding.Options{})
			return err
		}
	}
	do := func(actor *access.Actor, name string, call tool.Call) func() error {
		return func() error {
			_, err := g.Do(t.Context(), actor, name, call, encoding.Options{})
			return err
		}
	}
	broken := func(context.Context, *tool.Env, engine.Commit) (any, error) { return nil, errors.New("broken pipe") }
	for _, tt := range []struct {
		name   string
		call   func() error
		tool   string
		denied tool.Action
		whole  bool
	}{
		{"a stored query by its name", func() error {
			_, err := g.InvokeQuery(t.Context(), nobody, "everyone", servedgraph.Invocation{}, encoding.Options{})
			return err
		}, "everyone", tool.InvokeQuery, false},
		{"the description of a stored query", func() error {
			_, err := g.DescribeQuery(t.Context(), nobody, "everyone", "")
			return err
		}, "everyone", tool.InvokeQuery, false},
		{"a query that does not exist", func() error {
			_, err := g.InvokeQuery(t.Context(), nobody, "nothing", servedgraph.Invocation{}, encoding.Options{})
			return err
		}, "", "", false},
		{"a stored query as a tool", mcp(nobody, "everyone", `{}`), "everyone", tool.InvokeQuery, false},
		{"a built-in tool", mcp(nobody, "change_list", `{}`), "change_list", tool.Read, false},
		{"a tool that does not exist", mcp(nobody, "nothing", `{}`), "", "", false},
		{"an export that breaks off", do(servedtest.Writer, "export", &operations.Look{Action: tool.Export, Read: broken}), "export", "", true},
		{"changes that break off", do(servedtest.Writer, "changes", &operations.Look{Whole: true, Read: broken}), "changes", "", true},
		{"an export that is denied", do(nobody, "export", &operations.Look{Action: tool.Export, Read: broken}), "export", tool.Export, false},
		{"changes as a tool", mcp(servedtest.Writer, "change_list", `{"commit":"`+commit+`"}`), "change_list", "", true},
		{"checks", do(servedtest.Writer, "checks", operations.RunChecks("")), "checks", "", true},
		{"a proposal that does not exist", do(servedtest.Writer, "proposal", operations.GetProposal("01JZ0000000000000000000000")), "proposal", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := trail.Stats().Records
			err := tt.call()
			if got := trail.Stats().Records; got != before+1 {
				t.Fatalf("the call (%v) made %d records, want one", err, got-before)
			}
			if err := trail.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			found, _, err := trail.Query(t.Context(), audittrail.Filter{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r := found[0]; r.Tool != tt.tool || r.Denied != string(tt.denied) || r.Whole != tt.whole {
				t.Errorf("the record has the tool %q, denied %q, whole %v; want %q, %q, %v", r.Tool, r.Denied, r.Whole, tt.tool, tt.denied, tt.whole)
			}
		})
	}
}

// TestAuditFull refuses calls and lists while the trail is full. They make no records, which would make it fuller: one record counts them.
func TestAuditFull(t *testing.T) {
	g, _, trail := audited(t, 1)
	for range 20 {
		_, err := g.InvokeQuery(t.Context(), servedtest.Reader, "everyone", servedgraph.Invocation{}, encoding.Options{})
		list := g.Recorded(t.Context(), "tools/list", "", wireerror.OutcomeOf, func(context.Context) error {
			t.Error("the list was made")
			return nil
		})
		for _, err := range []error{err, list} {
			if !errors.As(err, new(*engine.Unavailable)) {
				t.Fatalf("got %v, want the call refused", err)
			}
		}
	}
	if n := trail.Stats().Records; n != 0 {
		t.Errorf("the refused calls made %d records", n)
	}
	if err := trail.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	chains, err := trail.Verify(t.Context())
	if err != nil || len(chains) != 1 || len(chains[0].Gaps) != 1 || chains[0].Gaps[0].Lost != 40 {
		t.Errorf("the chains are %+v, %v; want one record of 40 refused calls", chains, err)
	}
}
