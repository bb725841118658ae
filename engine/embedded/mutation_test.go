package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// compiled compiles one query.
func compiled(t testing.TB, schema *catalog.Schema, text string) *plan.Query {
	t.Helper()
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return queries[0].Plan
}

// TestMutationTexts runs mutations on the story. If `row` and `err` are both empty, a test checks
// only the counts.
func TestMutationTexts(t *testing.T) {
	tests := []struct {
		name, text   string
		nodes, edges int64
		row          string // the returned row
		err          string // part of the message
	}{
		{"composite key", `insert Sits { from: Person("bob") to: Seat(3, 14) }`, 0, 1, "", ""},
		{"missing node", `insert Sits { from: Person("bob") to: Seat(14, 3) }`, 0, 0, "", `node Seat "[\"3\",\"14\"]" does not exist`},
		{"upsert", `$d = upsert Doc { slug: "short" body: body + "!" } return { $d.body as body }`, 1, 0, "Red foxes!", ""},
		{"insert new", `$d = insert new Doc { slug: "fresh" body: "a" } return { $d.body as body }`, 1, 0, "a", ""},
		{"insert new of a node that exists", `insert Person { name: "gus" } insert new Doc { slug: "short" body: "a" }`, 0, 0, "", `node Doc "short" exists already, and insert new does not replace it; use update or upsert to change it, or insert to replace it`},
		{"insert new twice in one block", `for $x in ["a", "a"] { insert new Doc { slug: $x body: $x } }`, 0, 0, "", `node Doc "a" exists already`},
		{"insert new after a delete", `delete Doc where slug = "short" insert new Doc { slug: "short" body: "a" }`, 2, 1, "", ""},
		{"block", `match { $p knows $q not { $p wrote $d } } order { $p.name, $q.name } limit 2 { $d = insert Doc { slug: $p.name body: $q.name } insert Wrote { from: $p to: $d } }`, 2, 2, "", ""},
		{"rows that differ", `match { $p: Person $d: Doc } { update Doc set { body: $p.name } where slug = $d.slug }`, 0, 0, "", `node Doc "long", property body: two rows give the property the values "ada" and "bob"`},
		{"elements that differ", `for $x in ["a", "b"] { upsert Doc { slug: "new" body: $x } }`, 0, 0, "", `two rows give the property the values "a" and "b"`},
		{"two deletes of one node", `match { $p knows $q } { delete Person where name = $q.name }`, 4, 7, "", ""},
		{"no result", `upsert Seat { row: 1 number: 2 * 3 } update Doc set { body: string(1 / 0) } where slug = "short"`, 0, 0, "", "1 / 0"},
		{"deleted later", `$p = insert Person { name: "gus" } insert Person { name: "hal" } delete Person where name >= "gus" return { $p.name as name, "kept" as word }`, 4, 0, "<nil> kept", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, schema := storyGraph(t)
			q := compiled(t, schema, "query q() { "+test.text+" }")
			got, err := g.Mutate(context.Background(), q, nil, engine.WriteOptions{})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || got.Nodes != test.nodes || got.Edges != test.edges {
				t.Fatalf("changed %d nodes and %d edges, %v; want %d and %d", got.Nodes, got.Edges, err, test.nodes, test.edges)
			}
			var row []string
			for _, v := range got.Row {
				if v.IsNull() {
					row = append(row, "<nil>")
				} else {
					row = append(row, v.Str())
				}
			}
			if found := strings.Join(row, " "); found != test.row {
				t.Errorf("returned %q, want %q", found, test.row)
			}
		})
	}
}

// TestBlockWithinBudget runs a mutation whose match needs more memory than a query may use, and another one with too
// many rows. Both must fail and change nothing, while another client reads.
func TestBlockWithinBudget(t *testing.T) {
	for _, test := range []struct {
		memory   int64
		resource string
	}{{100 << 10, "bytes of memory for one query"}, {0, "rows of a match block"}} {
		t.Run(test.resource, func(t *testing.T) { blockPast(t, test.memory, test.resource) })
	}
}

// blockPast runs a mutation that must fail because its match needs more of the resource than a query may use.
func blockPast(t *testing.T, memory int64, resource string) {
	const persons = 300
	schema, faults := gq.CompileSchema(gq.Source{Name: "story.pg", Text: storySchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	g, err := embedded.OpenMemory(ctx, storySchema, schema, embedded.Options{QueryMemory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	var people strings.Builder
	for i := range persons {
		fmt.Fprintf(&people, `{"type":"Person","data":{"name":"p%04d"}}`+"\n", i)
	}
	if _, err := g.Load(ctx, strings.NewReader(people.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	read := compiled(t, schema, `query q() { match { $p: Person } return { count($p) as n } }`)
	count := func() int64 {
		res, err := g.Query(ctx, read, nil, engine.Target{})
		if err != nil {
			t.Error(err)
			return 0
		}
		defer res.Close()
		b, err := res.Next(ctx)
		if err != nil {
			t.Error(err)
			return 0
		}
		return b.Columns[0].Ints[0]
	}
	q := compiled(t, schema, `query q() {
		match { $p: Person $q: Person $p.name != $q.name } order { $p.name desc } { insert Doc { slug: $p.name + $q.name body: "x" } delete Person where name = $p.name }
	}`)
	done := make(chan error, 1)
	var ended atomic.Bool
	go func() {
		_, err := g.Mutate(ctx, q, nil, engine.WriteOptions{})
		ended.Store(true)
		done <- err
	}()
	served := 0
	for ; served == 0 || !ended.Load(); served++ {
		if n := count(); n != persons {
			t.Fatalf("read %d persons", n)
		}
	}
	var large *engine.TooLarge
	if err := <-done; !errors.As(err, &large) || large.Resource != resource {
		t.Errorf("error %v, want TooLarge of the %s", err, resource)
	}
	t.Logf("served %d reads meanwhile", served)
	if n := count(); n != persons {
		t.Errorf("%d persons are left", n)
	}
}

// TestBlockRowsWithinBudget runs a mutation whose match yields rows with large texts. The rows must count to the
// memory of the query.
func TestBlockRowsWithinBudget(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "story.pg", Text: storySchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const docs, body, memory = 20, 100_000, 1 << 20
	g, err := embedded.OpenMemory(t.Context(), storySchema, schema, embedded.Options{QueryMemory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	var lines strings.Builder
	for i := range docs {
		fmt.Fprintf(&lines, `{"type":"Doc","data":{"slug":"d%02d","body":"%s"}}`+"\n", i, strings.Repeat("x", body))
	}
	if _, err := g.Load(t.Context(), strings.NewReader(lines.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	run := func(limit int) error {
		text := fmt.Sprintf(`query q() { match { $d: Doc } limit %d { insert Doc { slug: $d.slug + "x" body: $d.body } } }`, limit)
		_, err := g.Mutate(t.Context(), compiled(t, schema, text), nil, engine.WriteOptions{DryRun: true})
		return err
	}
	if err := run(5); err != nil {
		t.Errorf("rows within the memory: %v", err)
	}
	var large *engine.TooLarge
	if err := run(docs); !errors.As(err, &large) || large.Limit != memory {
		t.Errorf("rows past the memory: %v, want TooLarge", err)
	}
}
