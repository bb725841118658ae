package servedgraph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// noMerge denies merges to everybody.
type noMerge struct{ servedtest.Policy }

func (p noMerge) Allowed(a *access.Actor, g tool.Grant) bool {
	return g.Action != tool.BranchMerge && p.Policy.Allowed(a, g)
}

// TestSuggestions checks which tool an error about an unknown one suggests. It must not lead a caller that
// wanted something else to a tool that destroys data.
func TestSuggestions(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Authorizer = noMerge{}
	g := servedtest.Graph(t, c)
	for name, want := range map[string]string{
		"branch_merge":  "",
		"branch_merg":   "",
		"branch_delte":  "branch_delete",
		"branchDelete":  "branch_delete",
		"branch_lst":    "branch_list",
		"commit_lists":  "commit_list",
		"graph_qeury":   "graph_query",
		"graph_mutatee": "graph_mutate",
		"add_persons":   "add_person",
		"edd_person":    "",
	} {
		_, err := g.Lookup(context.Background(), servedtest.Writer, name)
		var unknown *wireerror.UnknownTool
		if !errors.As(err, &unknown) || unknown.Near != want {
			t.Errorf("%s: %v suggests %q, want %q", name, err, unknown.Near, want)
		}
	}
}

// TestSourceGates checks that a tool which needs a right on another branch, too, is seen only with that right.
func TestSourceGates(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Authorizer = blind{}
	g := servedtest.Graph(t, c)
	seen, err := g.Tools(context.Background(), servedtest.Writer)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range seen {
		switch d.Name {
		case "branch_create", "branch_merge", "proposal_submit", "lookup_person", "graph_query":
			t.Errorf("an actor that may read no branch sees %s", d.Name)
		}
	}
}

// blind denies all reads.
type blind struct{ servedtest.Policy }

func (p blind) Allowed(a *access.Actor, g tool.Grant) bool {
	return g.Action != tool.Read && p.Policy.Allowed(a, g)
}
