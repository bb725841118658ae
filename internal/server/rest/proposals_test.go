package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// peopleServed serves the graph people to the actor servedtest.Writer, and returns a client of it.
func peopleServed(t *testing.T) *client.Graph {
	t.Helper()
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, servedtest.Config(t))}, rest.Options{}))
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
	}))
	t.Cleanup(ts.Close)
	c, err := client.New(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Graph("people")
}

// TestProposalThatCannotBeCompared opens proposals whose branches cannot be compared, or can no longer
// be. They can still be opened, read, changed and closed, and then their branches can be deleted.
func TestProposalThatCannotBeCompared(t *testing.T) {
	schema := func(g *client.Graph, branch, source string) {
		t.Helper()
		if _, err := g.ApplySchema(t.Context(), client.SchemaBody{Branch: branch, SchemaSource: source, AllowDataLoss: true}); err != nil {
			t.Fatal(err)
		}
	}
	withoutAge := strings.Replace(servedtest.Source, "  age: I32?\n", "", 1)
	withExtra := strings.Replace(servedtest.Source, "  big: I64?\n", "  big: I64?\n  extra: String?\n", 1)
	for _, tt := range []struct {
		name    string
		before  func(g *client.Graph)                           // runs before the proposal is opened
		after   func(g *client.Graph, p *client.ProposalAnswer) // runs while it is open
		blocker string
	}{
		{"schemas diverge", func(g *client.Graph) {
			schema(g, "try", withExtra)
			schema(g, "next", withoutAge)
		}, nil, "neither schema descends from the other"},
		{"a resolution is about a dropped property", func(*client.Graph) {}, func(g *client.Graph, p *client.ProposalAnswer) {
			c := p.Conflicts[0]
			if _, err := g.ChangeProposal(t.Context(), p.ID, client.ProposalChangeBody{Resolutions: []client.ConflictResolution{
				{EntityKind: c.EntityKind, TypeName: c.TypeName, ID: c.ID, Property: c.Property, Take: client.TakeOurs}}}); err != nil {
				t.Fatal(err)
			}
			schema(g, "next", withoutAge)
		}, "without this resolution"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			g := peopleServed(t)
			if _, err := g.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "zoe", age: 1 } }`}); err != nil {
				t.Fatal(err)
			}
			for i, branch := range []string{"try", "next"} {
				if _, err := g.CreateBranch(ctx, client.BranchBody{Name: branch}); err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf(`query m() { update Person set { age: %d } where name = "zoe" }`, 50+i)
				if _, err := g.Mutate(ctx, client.MutateBody{Query: text, Branch: branch}); err != nil {
					t.Fatal(err)
				}
			}
			tt.before(g)
			p, err := g.OpenProposal(ctx, client.ProposalBody{Source: "try", Target: "next", Title: "Zoe is 50"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.after != nil {
				tt.after(g, p)
			}
			p, err = g.Proposal(ctx, p.ID)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Blockers) != 1 || !strings.Contains(p.Blockers[0], tt.blocker) || !strings.Contains(p.Blockers[0], "close the proposal") || p.Digest != "" {
				t.Errorf("digest %q, blockers %q, want one with %s", p.Digest, p.Blockers, tt.blocker)
			}
			if _, err := g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionRequest, Digest: "any"}); err == nil {
				t.Error("a decision about unknown changes is accepted")
			}
			if _, err := g.MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err == nil {
				t.Error("the merge is accepted")
			}
			if _, err := g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionComment, Comment: "hm"}); err != nil {
				t.Error(err)
			}
			if p, err = g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Title: new("Zoe is older")}); err != nil || p.Title != "Zoe is older" {
				t.Errorf("a new title: %+v, %v", p, err)
			}
			if p, err = g.CloseProposal(ctx, p.ID, client.ProposalCloseBody{}); err != nil || p.State != "closed" || len(p.Blockers) > 0 {
				t.Fatalf("close: %+v, %v", p, err)
			}
			if _, err := g.DeleteBranch(ctx, "try"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLargeConflicts reads a proposal whose conflicts have large values. The answer lists some of the
// conflicts, and counts all.
func TestLargeConflicts(t *testing.T) {
	ctx := t.Context()
	g := peopleServed(t)
	const people = 6
	write := func(branch, operation, text string) {
		t.Helper()
		for i := range people {
			tags := strings.Repeat(text, 900<<10)
			m := fmt.Sprintf(`query m() { update Person set { tags: [%q] } where name = "p%d" }`, tags, i)
			if operation == "insert" {
				m = fmt.Sprintf(`query m() { insert Person { name: "p%d", tags: [%q] } }`, i, tags)
			}
			if _, err := g.Mutate(ctx, client.MutateBody{Query: m, Branch: branch}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("main", "insert", "a")
	if _, err := g.CreateBranch(ctx, client.BranchBody{Name: "try"}); err != nil {
		t.Fatal(err)
	}
	write("try", "update", "b")
	write("main", "update", "c")
	p, err := g.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Other tags"})
	if err != nil {
		t.Fatal(err)
	}
	// Each conflict has three values of 900 KiB, so three conflicts have less than 8 MiB.
	if p.ConflictCount != people || len(p.Conflicts) != 3 {
		t.Errorf("the answer lists %d of %d conflicts, want 3 of %d", len(p.Conflicts), p.ConflictCount, people)
	}
}
