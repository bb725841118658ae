package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// aboutPG is a schema with an edge type that ends at an interface.
const aboutPG = `interface Named { name: String }
node Person implements Named { name: String @key }
node Team implements Named { name: String @key }
node Note { text: String @key }
edge About: Note -> Named { rank: I32? }
`

// aboutLines are a note about the person ann, and three nodes that it may be about.
var aboutLines = []string{`{"type":"Person","data":{"name":"ann"}}`, `{"type":"Team","data":{"name":"ann"}}`, `{"type":"Team","data":{"name":"t1"}}`,
	`{"type":"Note","data":{"text":"n1"}}`, `{"edge":"About","from":"n1","to":{"type":"Person","id":"ann"},"data":{"id":"a1"}}`}

// overNotes runs a test with a client of a graph of aboutPG, on the model and on the embedded engine.
func overNotes(t *testing.T, test func(t *testing.T, stored engine.Graph, g *client.Graph)) {
	schema := servedtest.SchemaOf(t, aboutPG)
	stored, err := embedded.Create(t.Context(), fs.NewMem(), "graph", aboutPG, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stored.Close() })
	for name, g := range map[string]engine.Graph{"naive": naive.New(aboutPG, schema, naive.Sound), "embedded": stored} {
		t.Run(name, func(t *testing.T) {
			c := servedtest.Config(t)
			c.Graph = g
			h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
			}))
			t.Cleanup(ts.Close)
			served, err := client.New(ts.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(served.Close)
			if _, err := g.Load(t.Context(), strings.NewReader(strings.Join(aboutLines, "\n")), engine.LoadOptions{Mode: engine.Append}); err != nil {
				t.Fatal(err)
			}
			test(t, g, served.Graph("people"))
		})
	}
}

// redirect makes the edge a1 on a branch end at the node with the given type and id.
func redirect(t *testing.T, g *client.Graph, branch, typ, id string) {
	t.Helper()
	line := fmt.Sprintf(`{"edge":"About","from":"n1","to":{"type":%q,"id":%q},"data":{"id":"a1"}}`, typ, id)
	if _, err := g.Load(t.Context(), strings.NewReader(line), client.LoadQuery{Branch: branch, Mode: client.ModeOverwrite}); err != nil {
		t.Fatal(err)
	}
}

// TestChangedInterfaceEnd lists the change of an edge from one type of node to another, over the list of
// changes and over the feed.
func TestChangedInterfaceEnd(t *testing.T) {
	overNotes(t, func(t *testing.T, stored engine.Graph, g *client.Graph) {
		redirect(t, g, "main", "Team", "ann")
		head, err := stored.Snapshot(t.Context(), engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		before := client.EdgeEndpoints{From: client.EdgeEnd{ID: "n1"}, To: client.EdgeEnd{Type: "Person", ID: "ann"}}
		after := client.EdgeEndpoints{From: client.EdgeEnd{ID: "n1"}, To: client.EdgeEnd{Type: "Team", ID: "ann"}}
		check := func(what string, list []client.EntityChange) {
			t.Helper()
			if len(list) != 1 || list[0].Before == nil || list[0].After == nil || *list[0].Before.Endpoints != before || *list[0].After.Endpoints != after {
				t.Errorf("%s: %+v", what, list)
			}
		}
		changes, err := g.Changes(t.Context(), head.Commit.ID, client.ChangeQuery{})
		if err != nil {
			t.Fatal(err)
		}
		check("the changes of the commit", changes.Changes)
		feed, err := g.ChangeFeed(t.Context(), client.FeedQuery{})
		if err != nil {
			t.Fatal(err)
		}
		check("the feed", feed.Blocks[len(feed.Blocks)-1].Changes)
	})
}

// TestConflictAtInterfaceEnd resolves a conflict about the end of an edge that is at an interface.
func TestConflictAtInterfaceEnd(t *testing.T) {
	for _, tt := range []struct {
		take, value string
		want        string // the end after the merge, or a part of the error
	}{
		{client.TakeOurs, ``, `{"type":"Team","id":"ann"}`},
		{client.TakeTheirs, ``, `{"type":"Team","id":"t1"}`},
		{client.TakeValue, `{"id":"ann","type":"Person"}`, `{"type":"Person","id":"ann"}`},
		{client.TakeValue, `"{\"type\":\"Person\",\"id\":\"ann\"}"`, `{"type":"Person","id":"ann"}`},
		{client.TakeValue, `{"type":"Note","id":"n1"}`, `resolutions[0].value.type: found the string "Note", expected one of Person, Team`},
		{client.TakeValue, `{"type":"Person"}`, `resolutions[0].value.id: missing`},
		{client.TakeValue, `"ann"`, `resolutions[0].value: found the string "ann", expected an object such as {`},
		{client.TakeValue, `null`, `resolutions[0].value: missing`},
	} {
		overNotes(t, func(t *testing.T, stored engine.Graph, g *client.Graph) {
			ctx := t.Context()
			if _, err := g.CreateBranch(ctx, client.BranchBody{Name: "try"}); err != nil {
				t.Fatal(err)
			}
			redirect(t, g, "try", "Team", "t1")
			if _, err := g.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "bob" } }`, Branch: "try"}); err != nil {
				t.Fatal(err) // without a further change, the proposal would have nothing to merge
			}
			redirect(t, g, "main", "Team", "ann")
			p, err := g.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Another end"})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Conflicts) != 1 || p.Conflicts[0].Property != "to" || p.Conflicts[0].Base.Endpoints.To != (client.EdgeEnd{Type: "Person", ID: "ann"}) ||
				p.Conflicts[0].Ours.Endpoints.To != (client.EdgeEnd{Type: "Team", ID: "ann"}) || p.Conflicts[0].Theirs.Endpoints.To != (client.EdgeEnd{Type: "Team", ID: "t1"}) {
				t.Fatalf("the conflicts are %+v", p.Conflicts)
			}
			r := client.ConflictResolution{EntityKind: client.KindEdge, TypeName: "About", ID: "a1", Property: "to", Take: tt.take, Value: []byte(tt.value)}
			p, err = g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Resolutions: []client.ConflictResolution{r}})
			if !strings.HasPrefix(tt.want, "{") {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%s: error %v, want one with %s", tt.value, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tt.value, err)
			}
			if got := string(p.Resolutions[0].Value); tt.take == client.TakeValue && got != tt.want {
				t.Errorf("the value of the resolution is %s, want %s", got, tt.want)
			}
			if p, err = g.MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err != nil || p.State != "merged" {
				t.Fatalf("merge: %+v, %v", p, err)
			}
			var out strings.Builder
			if _, err := stored.Export(ctx, &out, engine.Target{}, engine.ExportOptions{}); err != nil {
				t.Fatal(err)
			}
			if want := `"from":"n1","to":` + tt.want; !strings.Contains(out.String(), want) {
				t.Errorf("the export lacks %s:\n%s", want, out.String())
			}
		})
	}
}
