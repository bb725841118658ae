package queries

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"

	graph "brain/generated/team"
)

// This file is not part of what gq init makes. A test copies it into such a module, next to the module's own
// tests, and runs it while the module's server serves the seed.

// more is what the seed lacks: a decision that rests on no document and replaces one that holds.
const more = `{"type":"Decision","data":{"slug":"guess","title":"Guess – über alles","state":"accepted","reason":"None.","decided":"2026-03-17T09:00:00.123Z"}}
{"edge":"Replaces","from":"guess","to":"relational-ledger","data":{"id":"guess-replaces"}}
`

// network is a graph in this process, and one on a server with the same content.
type network struct {
	near, far tool.Graph
	client    *client.Graph
	ran       map[string]bool // the queries that ran
}

// read runs a function of the generated package on both graphs, and asks the server for pages of one row. All
// three must have the same rows, at least one.
func read[P, R any](t *testing.T, n *network, query string, p P, run func(context.Context, tool.Graph, P, ...tool.ReadOption) ([]R, error)) {
	t.Run(query, func(t *testing.T) {
		n.ran[query] = true
		near, err := run(t.Context(), n.near, p)
		if err != nil {
			t.Fatal(err)
		}
		far, err := run(t.Context(), n.far, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(near) == 0 {
			t.Error("there are no rows to compare")
		}
		if !reflect.DeepEqual(near, far) {
			t.Errorf("embedded %+v, over the network %+v", near, far)
		}
		var paged []R
		for row, err := range n.client.InvokeRows(t.Context(), query, client.InvokeBody{Params: p}, 1) {
			if err != nil {
				t.Fatal(err)
			}
			var r R
			if err := row.Decode(&r); err != nil {
				t.Fatal(err)
			}
			paged = append(paged, r)
		}
		if !reflect.DeepEqual(near, paged) {
			t.Errorf("embedded %+v, in pages %+v", near, paged)
		}
	})
}

// TestOverNetwork runs every function of the generated package on a graph in memory and on the module's server.
func TestOverNetwork(t *testing.T) {
	c, err := client.New(os.Getenv("TEAM_SERVER"), client.WithToken(os.Getenv("TEAM_TOKEN")))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	g := seeded(t)
	n := &network{near: g, far: c.Graph("team").Typed(), client: c.Graph("team"), ran: map[string]bool{}}
	if _, err := g.Load(t.Context(), strings.NewReader(more), engine.LoadOptions{Mode: engine.Merge}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.client.Load(t.Context(), strings.NewReader(more), client.LoadQuery{}); err != nil {
		t.Fatal(err)
	}

	read(t, n, "recent_decisions", graph.RecentDecisionsParams{}, graph.RecentDecisions)
	read(t, n, "why", graph.WhyParams{Slug: "guess"}, graph.Why)
	read(t, n, "replaced_by", graph.ReplacedByParams{Slug: "guess"}, graph.ReplacedBy)
	read(t, n, "find_documents", graph.FindDocumentsParams{Words: "late invoice"}, graph.FindDocuments)
	read(t, n, "get_document", graph.GetDocumentParams{Slug: "late-payments"}, graph.GetDocument)
	read(t, n, "who_knows", graph.WhoKnowsParams{Words: "invoice"}, graph.WhoKnows)
	read(t, n, "decisions_of", graph.DecisionsOfParams{Handle: "ada"}, graph.DecisionsOf)
	read(t, n, "decisions_without_document", graph.DecisionsWithoutDocumentParams{}, graph.DecisionsWithoutDocument)
	read(t, n, "replaced_decisions_that_hold", graph.ReplacedDecisionsThatHoldParams{}, graph.ReplacedDecisionsThatHold)

	// The write sets the time of the decision to its own time, so only the other columns are equal afterwards.
	written := graph.RecordDecisionParams{Slug: "far", Title: "Über \"zwei\"\nZeilen", Reason: "r", By: "mei", Document: "late-payments"}
	for _, on := range []tool.Graph{n.near, n.far} {
		change, err := graph.RecordDecision(t.Context(), on, written)
		if err != nil || change.Nodes != 1 || change.Edges != 2 || change.Commit == nil {
			t.Errorf("record_decision: found %+v, %v", change, err)
		}
	}
	n.ran["record_decision"] = true
	read(t, n, "why", graph.WhyParams{Slug: "far"}, graph.Why)

	// A write that the graph refuses is the same error on both sides of the network.
	written.Slug, written.By = "other", "nobody"
	for _, on := range []tool.Graph{n.near, n.far} {
		if _, err := graph.RecordDecision(t.Context(), on, written); err == nil || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("record_decision by a person that does not exist: %v", err)
		}
	}
	for _, q := range graph.Catalog().Queries {
		if name := q.Info().Name; !n.ran[name] {
			t.Errorf("the query %s does not run here", name)
		}
	}
}
