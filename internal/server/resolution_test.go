package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestResolutionPlaces checks, over REST and over MCP, that a proposal stores a resolution only where it
// has a conflict that a resolution can resolve, and that a refusal names the place and what to do.
func TestResolutionPlaces(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	root, one := w.person("act-root"), w.person("act-one")
	ok := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mutate := func(g *client.Graph, branch, query string) {
		t.Helper()
		ok(g.Mutate(ctx, client.MutateBody{Query: query, Branch: branch}))
	}
	mutate(root, "main", `query m() { insert Person { name: "ann" } }`)
	mutate(root, "main", `query m() { insert Person { name: "zoe" } }`)
	ok(one.CreateBranch(ctx, client.BranchBody{Name: "try"}))
	mutate(root, "main", aged("ada", 60))
	mutate(one, "try", aged("ada", 61))
	mutate(root, "main", `query m() { update Person set { big: 1 } where name = "ann" }`)
	mutate(one, "try", `query m() { delete Person where name = "ann" }`)
	p, err := one.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Try"})
	ok(p, err)

	// An empty list is nothing to change, and stores no event. The client would leave it out.
	req, err := http.NewRequestWithContext(ctx, "POST", w.url+"/graphs/people/proposals/"+p.ID, strings.NewReader(`{"resolutions":[]}`))
	ok(req, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: bearer("the-token-of-act-one")}).Do(req)
	ok(res, err)
	defer res.Body.Close()
	if said, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), "found nothing to change") {
		t.Errorf("an empty list: found %s %s %v", res.Status, said, err)
	}

	type place struct{ typeName, id, property string }
	for _, tt := range []struct { // the last ones settle the conflicts
		name string
		at   place
		want string // in the refusal; "" if the resolution is stored
	}{
		{"no such entity", place{"Person", "nobody", "age"}, `found node Person "nobody", property age, where the proposal has no conflict; resolve the conflict at node Person "ada", property age or node Person "ann" as a whole`},
		{"another property", place{"Person", "ada", "big"}, `where the proposal has no conflict; resolve the conflict at node Person "ada", property age`},
		{"the whole entity", place{"Person", "ada", ""}, `found node Person "ada" as a whole, where the proposal has no conflict; resolve the conflict at node Person "ada", property age`},
		{"a property of a deletion", place{"Person", "ann", "big"}, `resolve the conflict at node Person "ann" as a whole`},
		{"an unchanged entity", place{"Person", "zoe", "age"}, `found node Person "zoe", property age, where the proposal has no conflict`},
		{"the conflict", place{"Person", "ada", "age"}, ""},
		{"the deletion", place{"Person", "ann", ""}, ""},
		{"after both", place{"Person", "zoe", "age"}, "no conflict is left that a resolution can resolve"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			item := map[string]any{"entity_kind": "node", "type_name": tt.at.typeName, "id": tt.at.id, "take": "ours"}
			if tt.at.property != "" {
				item["property"] = tt.at.property
			}
			overREST := ""
			// Send it twice: the second one replaces the first, although the first settles the conflict.
			for range 2 {
				if _, err := one.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Resolutions: []client.ConflictResolution{
					{EntityKind: "node", TypeName: tt.at.typeName, ID: tt.at.id, Property: tt.at.property, Take: client.TakeOurs}}}); err != nil {
					overREST = err.Error()
				}
			}
			overMCP := w.agent("act-one")(nil, "proposal_resolve", map[string]any{"proposal": p.ID, "resolutions": []any{item}})
			overMCP = strings.ReplaceAll(overMCP, `\"`, `"`) // the text is JSON
			for transport, said := range map[string]string{"REST": overREST, "MCP": overMCP} {
				if (said == "") != (tt.want == "") || !strings.Contains(said, tt.want) {
					t.Errorf("over %s: found %q, want %q", transport, said, tt.want)
				}
			}
		})
	}
}

// TestUnresolvable checks that a resolution of a conflict that none can resolve is refused with the way out.
func TestUnresolvable(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	root, one := w.person("act-root"), w.person("act-one")
	ok := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(root.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "ann" } }`}))
	ok(one.CreateBranch(ctx, client.BranchBody{Name: "try"}))
	ok(one.Mutate(ctx, client.MutateBody{Query: `query m() { insert Knows { from: "ada", to: "ann" } }`, Branch: "try"}))
	ok(root.Mutate(ctx, client.MutateBody{Query: `query m() { delete Person where name = "ann" }`}))
	p, err := one.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Try"})
	ok(p, err)
	if len(p.Conflicts) != 1 || p.Conflicts[0].Resolvable {
		t.Fatalf("the conflicts are %+v", p.Conflicts)
	}
	c := p.Conflicts[0]
	_, err = one.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Resolutions: []client.ConflictResolution{
		{EntityKind: c.EntityKind, TypeName: c.TypeName, ID: c.ID, Property: c.Property, Take: client.TakeOurs}}})
	want := "whose conflict no resolution can resolve; write to branch try, or merge branch main into it"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, want %q", err, want)
	}
}

// TestDeleteProtected checks what the refusal to delete a protected branch advises: main can never be
// deleted, another branch can after it has lost its protection.
func TestDeleteProtected(t *testing.T) {
	w := newProposalWorldWith(t, protectedMatrixPolicy, servedtest.Catalog(t))
	if _, err := w.person("act-root").CreateBranch(t.Context(), client.BranchBody{Name: "stable"}); err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[string]string{
		"main":   "main can never be deleted",
		"stable": "take the branch out of protected_branches first",
	} {
		_, err := w.person("act-ada").DeleteBranch(t.Context(), branch)
		if err == nil || !strings.Contains(err.Error(), want) || branch == "main" && strings.Contains(err.Error(), "protected_branches") {
			t.Errorf("%s: found %v, want %q", branch, err, want)
		}
	}
}
