package operations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestMergedProposalListsCommit merges with another resolution than the proposal has, and checks that the proposal
// lists and counts what the merge commit changed.
func TestMergedProposalListsCommit(t *testing.T) {
	ctx := t.Context()
	g := naive.New(servedtest.Source, servedtest.Schema(t), naive.Sound)
	ages := func(branch string, ages ...int) {
		t.Helper()
		for i, age := range ages {
			text := fmt.Sprintf(`{"type":"Person","data":{"name":"p%d","age":%d}}`, i, age)
			if _, err := g.Load(ctx, strings.NewReader(text), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ages("", 0, 1)
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	ages("side", 10, 11)
	ages("", 20)
	take := func(age int32) []engine.Resolution {
		place := engine.ConflictPlace{Entity: "node", Type: "Person", ID: "p0", Property: "age"}
		return []engine.Resolution{{ConflictPlace: place, Take: engine.TakeValue, Value: value.OfI32(age)}}
	}
	p, err := g.PutProposal(ctx, engine.Proposal{Source: "side", Target: "main", Title: "ages", Resolutions: take(77)})
	if err != nil {
		t.Fatal(err)
	}
	env := &tool.Env{Server: allowing{}, Graph: g}
	expect := func(want ...string) {
		t.Helper()
		out, err := operations.ListProposalChanges(p.ID, engine.ChangeRange{}, "").Run(ctx, env)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range out.Value.(*client.ProposalChanges).Changes {
			got = append(got, fmt.Sprintf("%s %s: %s to %s", c.Effect, c.ID, c.Before.Properties["age"], c.After.Properties["age"]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the proposal lists %q, want %q", got, want)
		}
	}
	expect("changes p0: 20 to 77", "changes p1: 1 to 11")
	if _, err := g.Merge(ctx, "side", "main", engine.MergeOptions{Resolutions: take(20), Proposal: p}); err != nil {
		t.Fatal(err)
	}
	expect("kept p0: 20 to 20", "changes p1: 1 to 11")
	out, err := operations.GetProposal(p.ID).Run(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	if a := out.Value.(*client.ProposalAnswer); a.Nodes != (client.ChangeCounts{Updated: 1}) {
		t.Errorf("the proposal counts %+v", a.Nodes)
	}
}

// allowing is a server whose callers have every grant.
type allowing struct{ tool.Alone }

// Require implements [tool.Server].
func (allowing) Require(...tool.Grant) error { return nil }
