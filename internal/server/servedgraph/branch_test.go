package servedgraph_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestWritesAreLogged checks that each call that changes a graph is logged with actor, branch and
// commit. A call that changes nothing must not be logged.
func TestWritesAreLogged(t *testing.T) {
	var log strings.Builder
	c := servedtest.Config(t)
	c.Logger = textLogger(&log)
	g := servedtest.Graph(t, c)
	wider := strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: F64?", 1)
	for _, tt := range []struct {
		name   string
		call   tool.Call
		want   string // the expected log line; "" for none
		commit bool
	}{
		{"branch_create", &operations.CreateBranch{Name: "trial"}, "branch=trial", false},
		{"graph_mutate", &operations.AdHoc{Source: `query m() { insert Person { name: "dan" } }`, Write: true, Branch: "trial"}, "branch=trial", true},
		{"branch_merge", &operations.MergeBranches{Source: "trial", Options: engine.MergeOptions{DryRun: true}}, "", false},
		{"branch_merge", &operations.MergeBranches{Source: "trial"}, "branch=main", true},
		{"branch_merge", &operations.MergeBranches{Source: "trial"}, "", false},
		{"branch_delete", &operations.DeleteBranch{Name: "trial"}, "branch=trial", false},
		{"load", &operations.LoadFrom{Load: &operations.Load{Data: strings.NewReader(""), Branch: "june", Options: queryrun.Options{DryRun: true}}, From: "main"}, "", false},
		// This load creates the branch.
		{"load", &operations.LoadFrom{Load: &operations.Load{Data: strings.NewReader(""), Branch: "june"}, From: "main"}, "branch=june", false},
		{"load", &operations.LoadFrom{Load: &operations.Load{Data: strings.NewReader(""), Branch: "june"}, From: "main"}, "", false},
		{"schema_apply", &operations.ApplySchema{Source: wider, Options: engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}}}, "", false},
		{"schema_apply", &operations.ApplySchema{Source: wider}, "branch=main", true},
		{"schema_apply", &operations.ApplySchema{Source: wider}, "", false},
		{"query_explain", &operations.ExplainQuery{AdHoc: operations.AdHoc{Source: `query m() { delete Person where name = "dan" }`}}, "", false},
	} {
		log.Reset()
		answer, err := g.Do(t.Context(), servedtest.Writer, tt.name, tt.call, encoding.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		line := ""
		for l := range strings.Lines(log.String()) {
			if strings.Contains(l, "msg=write") {
				line += l
			}
		}
		switch {
		case tt.want == "" && line != "":
			t.Errorf("%s is logged: %s", tt.name, line)
		case tt.want != "" && (strings.Count(line, "\n") != 1 || !strings.Contains(line, "tool="+tt.name+" actor=act-writer "+tt.want)):
			t.Errorf("%s is logged as %q", tt.name, line)
		case tt.commit && !strings.Contains(line, "commit="+answer.Commit):
			t.Errorf("%s: the log does not name %s: %s", tt.name, answer.Commit, line)
		}
	}
}

// failingLoad is an engine with loads that fail. If the function `before` is set, it runs first,
// for example to write as another actor.
type failingLoad struct {
	engine.Graph
	err    error
	before func()
}

func (f *failingLoad) Load(context.Context, io.Reader, engine.LoadOptions) (*engine.LoadResult, error) {
	if f.before != nil {
		f.before()
	}
	return nil, f.err
}

// TestLoadUndone makes loads fail. A failed load must delete the branch that it created, unless the
// branch may contain data.
func TestLoadUndone(t *testing.T) {
	c := servedtest.Config(t)
	inner := c.Graph
	failing := &failingLoad{Graph: inner}
	c.Graph = failing
	g := servedtest.Graph(t, c)
	written := func() {
		_, err := inner.Load(context.Background(), strings.NewReader(`{"type":"Person","data":{"name":"eve"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "written"}})
		if err != nil {
			t.Error(err)
		}
	}
	for _, tt := range []struct {
		branch string
		err    error
		before func()
		stays  bool
	}{
		{"plain", &engine.TooLarge{Resource: "bytes"}, nil, false},
		{"unsure", &engine.Indeterminate{Err: io.ErrUnexpectedEOF}, nil, true},
		{"written", &engine.TooLarge{Resource: "bytes"}, written, true},
	} {
		failing.err, failing.before = tt.err, tt.before
		_, err := g.Do(t.Context(), servedtest.Writer, "graph_load", &operations.LoadFrom{Load: &operations.Load{Branch: tool.BranchName(tt.branch)}, From: "main"}, encoding.Options{})
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: %v", tt.branch, err)
		}
		_, err = inner.Snapshot(t.Context(), engine.Target{Branch: tt.branch})
		if stays := err == nil; stays != tt.stays {
			t.Errorf("%s: the branch is there: %t", tt.branch, stays)
		}
	}
}

// creating records the names of created branches.
type creating struct {
	engine.Graph
	made []string
}

func (c *creating) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	c.made = append(c.made, name)
	return c.Graph.CreateBranch(ctx, name, from)
}

// TestDryLoadFrom checks that a dry run never creates the branch, not even for a moment. The answer
// must be the same as that of the load.
func TestDryLoadFrom(t *testing.T) {
	c := servedtest.Config(t)
	graph := &creating{Graph: c.Graph}
	c.Graph = graph
	g := servedtest.Graph(t, c)
	load := func(branch, from string, dry bool) (string, error) {
		a, err := g.Do(t.Context(), servedtest.Writer, "graph_load", &operations.LoadFrom{From: tool.BranchName(from), Load: &operations.Load{
			Data: strings.NewReader(`{"type":"Person","data":{"name":"eve"}}`), Branch: tool.BranchName(branch), Options: queryrun.Options{DryRun: dry},
		}}, encoding.Options{})
		if err != nil {
			return "", err
		}
		return string(a.JSON), nil
	}
	got, err := load("trial", "main", true)
	if want := `{"branch":"trial","base_branch":"main","branch_created":true,"mode":"merge","nodes":[{"name":"Person","entities_loaded":1}],"edges":[],"total_entities":1,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"commit":null,"actor_id":"act-writer","dry_run":true}`; err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if len(graph.made) > 0 {
		t.Errorf("a dry run made the branch %s", graph.made)
	}
	var missing *engine.NotFound
	if _, err := load("trial", "nowhere", true); !errors.As(err, &missing) || missing.Name != "nowhere" {
		t.Errorf("from no branch: %v", err)
	}
	var bad *tool.ArgumentError
	if _, err := load("a/../b", "main", true); !errors.As(err, &bad) || bad.Path != "branch" {
		t.Errorf("into a branch that cannot be: %v", err)
	}
	if _, err := load("trial", "main", false); err != nil {
		t.Fatal(err)
	}
	if got, err := load("trial", "main", true); err != nil || !strings.Contains(got, `"branch_created":false`) {
		t.Errorf("into a branch that is there: %s, %v", got, err)
	}
}

// TestMergeFault checks that an answer lists at most a hundred conflicts and counts all of
// them.
func TestMergeFault(t *testing.T) {
	e := &engine.MergeConflicts{Conflicts: make([]engine.MergeConflict, 250)}
	f := wireerror.Explain(e)
	if envelope.Status(f.Outcome) != 409 || f.Body.Code != client.CodeConflict || len(f.Body.MergeConflicts) != 100 || !strings.Contains(f.Body.Message, "250 places") || len(f.Body.Message) > 300 {
		t.Errorf("%d %s, %d conflicts", envelope.Status(f.Outcome), f.Body.Message, len(f.Body.MergeConflicts))
	}
}
