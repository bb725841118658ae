package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// effectText describes what an answer says about the effects of a write.
func effectText(e *client.WriteEffects) string {
	text := "no counts"
	if e.NodeChanges != nil && e.EdgeChanges != nil {
		text = fmt.Sprintf("nodes %v edges %v", *e.NodeChanges, *e.EdgeChanges)
	}
	age := func(i *client.EntityImage) string {
		if i == nil {
			return "nothing"
		}
		return string(i.Properties["age"])
	}
	for _, c := range e.Changes {
		text += fmt.Sprintf(", %s %s %s: %s to %s", c.Op, c.Type.Name, c.ID, age(c.Before), age(c.After))
	}
	if e.MoreChanges {
		text += ", more"
	}
	for _, n := range e.Notes {
		text += "; " + n
	}
	return text
}

// TestWriteEffects runs writes and dry runs over REST and MCP, and compares what the answers say.
func TestWriteEffects(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	root, agent := w.person("act-root"), w.agent("act-root")
	if _, err := root.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "x", age: 1 } insert Person { name: "y", age: 2 } }`}); err != nil {
		t.Fatal(err)
	}
	const replaces = `insert would replace nodes that exist: Person "x"; it sets every property that it does not name to null. To keep them, use upsert or update`
	many := "query m() {"
	for i := range 12 {
		many += fmt.Sprintf(" insert Person { name: \"m%02d\", age: %d }", i, i)
	}
	for _, c := range []struct{ query, want string }{
		{`query m() { insert Person { name: "new", age: 3 } }`, "nodes {1 0 0} edges {0 0 0}, insert Person new: nothing to 3"},
		{`query m() { insert Person { name: "x" } }`, "nodes {0 1 0} edges {0 0 0}, update Person x: 1 to null; " + replaces},
		{`query m() { upsert Person { name: "x", age: 9 } }`, "nodes {0 1 0} edges {0 0 0}, update Person x: 1 to 9"},
		{`query m() { update Person set { age: 5 } where name = "y" insert Person { name: "z" } }`, "nodes {1 1 0} edges {0 0 0}, update Person y: 2 to 5, insert Person z: nothing to null"},
		{`query m() { delete Person where name = "y" }`, "nodes {0 0 1} edges {0 0 0}, delete Person y: 2 to nothing"},
		{`query m() { delete Person where name = "nobody" }`, "nodes {0 0 0} edges {0 0 0}; no Person has name \"nobody\""},
	} {
		got, err := root.Mutate(ctx, client.MutateBody{Query: c.query, DryRun: true})
		if err != nil || got.Commit != nil || effectText(&got.WriteEffects) != c.want {
			t.Errorf("REST: the dry run of %s\n says %s, %v\nwant %s", c.query, effectText(&got.WriteEffects), err, c.want)
		}
		var over client.WriteEffects
		if said := agent(&over, "graph_mutate", map[string]any{"query": c.query, "dry_run": true}); said != "" || effectText(&over) != c.want {
			t.Errorf("MCP: the dry run of %s\n says %s, %s\nwant %s", c.query, effectText(&over), said, c.want)
		}
	}
	if got, err := root.Mutate(ctx, client.MutateBody{Query: many + " }", DryRun: true}); err != nil || len(got.Changes) != 10 || !got.MoreChanges || got.NodeChanges.Inserted != 12 {
		t.Errorf("a large dry run: %+v, %v", got, err)
	}

	// A stored mutation, a real write, and a load.
	stored, err := root.Invoke(ctx, "add_person", client.InvokeBody{Params: map[string]any{"name": "x"}, DryRun: true})
	if err != nil || !strings.Contains(effectText(&stored.Mutation.WriteEffects), "update Person x: 1 to null; "+replaces) {
		t.Errorf("the dry run of a stored mutation says %+v, %v", stored, err)
	}
	got, err := root.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "x", age: 4 } }`})
	if want := strings.Replace("nodes {0 1 0} edges {0 0 0}; "+replaces, "would replace nodes that exist", "replaced nodes that existed", 1); err != nil || effectText(&got.WriteEffects) != want {
		t.Errorf("a write says %s, %v\nwant %s", effectText(&got.WriteEffects), err, want)
	}
	keyed := client.MutateBody{Query: `query m() { insert Person { name: "x", age: 4, score: 1.5 } }`}
	first, err := root.Mutate(ctx, keyed, client.IdempotencyKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := root.Mutate(ctx, keyed, client.IdempotencyKey("k")); err != nil || effectText(&again.WriteEffects) != effectText(&first.WriteEffects) || len(again.Notes) != 1 {
		t.Errorf("a repeated write says %+v, %v, the first %+v", again, err, first)
	}
	lines := `{"type":"Person","data":{"name":"x","age":6}}` + "\n" + `{"type":"Person","data":{"name":"w","age":7}}`
	load, err := root.LoadText(ctx, client.LoadBody{Data: lines, Mode: "merge", DryRun: true})
	const loaded = "nodes {1 1 0} edges {0 0 0}, insert Person w: nothing to 7, update Person x: 4 to 6"
	if err != nil || effectText(&load.WriteEffects) != loaded {
		t.Errorf("the dry run of a load says %s, %v\nwant %s", effectText(&load.WriteEffects), err, loaded)
	}
	var over client.WriteEffects
	if said := agent(&over, "graph_load", map[string]any{"data": lines, "mode": "merge", "dry_run": true}); said != "" || effectText(&over) != loaded {
		t.Errorf("MCP: the dry run of a load says %s, %s", effectText(&over), said)
	}
	const counted = "nodes {1 1 0} edges {0 0 0}"
	for range 2 {
		if load, err := root.LoadText(ctx, client.LoadBody{Data: lines, Mode: "merge"}, client.IdempotencyKey("load")); err != nil || effectText(&load.WriteEffects) != counted {
			t.Errorf("a load says %s, %v\nwant %s", effectText(&load.WriteEffects), err, counted)
		}
	}
	over = client.WriteEffects{}
	lines = strings.ReplaceAll(strings.Replace(lines, `"x"`, `"v"`, 1), "7", "8")
	if said := agent(&over, "graph_load", map[string]any{"data": lines, "mode": "merge"}); said != "" || effectText(&over) != counted {
		t.Errorf("MCP: a load says %s, %s\nwant %s", effectText(&over), said, counted)
	}
}
