package embedded_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

const storySchema = `
node Person { name: String @key }
node Doc { slug: String @key body: String }
node Seat { row: I32 number: I32 @key(row, number) }
edge Knows: Person -> Person
edge Wrote: Person -> Doc
edge Sits: Person -> Seat
`

// story has a circle of three persons: ada, bob and cid. eve knows herself, and fay knows cid.
const story = `
{"type":"Person","data":{"name":"ada"}}
{"type":"Person","data":{"name":"bob"}}
{"type":"Person","data":{"name":"cid"}}
{"type":"Person","data":{"name":"eve"}}
{"type":"Person","data":{"name":"fay"}}
{"type":"Doc","data":{"slug":"long","body":"A red box among many other things"}}
{"type":"Doc","data":{"slug":"none","body":"Nothing of the kind"}}
{"type":"Doc","data":{"slug":"short","body":"Red foxes"}}
{"type":"Seat","data":{"row":3,"number":14}}
{"edge":"Knows","from":"ada","to":"bob"}
{"edge":"Knows","from":"bob","to":"cid"}
{"edge":"Knows","from":"cid","to":"ada"}
{"edge":"Knows","from":"eve","to":"eve"}
{"edge":"Knows","from":"fay","to":"cid"}
{"edge":"Wrote","from":"ada","to":"short"}
{"edge":"Sits","from":"ada","to":"[\"14\",\"3\"]"}
`

func storyGraph(t *testing.T) (*embedded.Graph, *catalog.Schema) {
	t.Helper()
	schema, faults := gq.CompileSchema(gq.Source{Name: "story.pg", Text: storySchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(context.Background(), storySchema, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if _, err := g.Load(context.Background(), strings.NewReader(story), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	return g, schema
}

func compileText(t *testing.T, s *catalog.Schema, text string) *gq.Query {
	t.Helper()
	queries, faults := gq.CompileQueries(s, gq.Source{Name: "story.gq", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return queries[0]
}

// TestTexts runs queries from their texts and compares the values of the first column.
func TestTexts(t *testing.T) {
	g, schema := storyGraph(t)
	tests := []struct{ match, rest, want string }{
		// A traversal without bounds reports a self-loop. A walk reports its start only at the distance 0.
		{`$p: Person { name: "eve" } $p knows $f`, `return { $f.name }`, "eve"},
		{`$p: Person { name: "eve" } $p knows{1,1} $f`, `return { $f.name }`, ""},
		{`$p: Person { name: "eve" } $p knows{0,1} $f`, `return { $f.name }`, "eve"},
		{`$p: Person { name: "ada" } $p knows{1,3} $f`, `return { $f.name }`, "bob cid"},
		{`$p: Person { name: "ada" } $p knows{0,3} $f`, `return { $f.name }`, "ada bob cid"},
		{`$p: Person { name: "ada" } $p <knows>{2,2} $f`, `return { $f.name }`, "fay"},
		{`$p: Person { name: "ada" } $f knows{1,64} $p`, `return { $f.name }`, "bob cid fay"},
		// One variable at both ends asks for a way back.
		{`$p knows{1,64} $p`, `return { $p.name }`, "ada bob cid eve"},
		{`$p knows{2,64} $p`, `return { $p.name }`, "ada bob cid"},
		{`$p <knows>{2,2} $p`, `return { $p.name }`, "ada bob cid fay"},
		{`$p: Person not { $p knows{1,64} $p }`, `return { $p.name }`, "fay"},
		// The edge leads to a node of another type, so the walk does not report its start.
		{`$p: Person { name: "ada" } $p wrote{0,5} $d`, `return { $d.slug }`, "short"},
		// Subqueries in a condition and as sort keys, and fields of records.
		{`$p: Person count { $_ knows $p } > 1`, `return { $p.name }`, "cid"},
		{`$p: Person`, `return { $p.name } order { count { $p wrote $_ } desc, $p.name desc } limit 3`, "ada fay eve"},
		{`$p: Person`, `return { $p.name, first { $p knows $q return { $q.name as name } } as one } having { one.name = "cid" } order { $p.name desc }`, "fay bob"},
		{`$p: Person`, `return { $p.name, first { $p wrote $d return { $d.slug as slug } } as one } order { one.slug desc, $p.name } limit 2`, "ada bob"},
		{`$p: Person any { count { $p sits $_ } = 1 exists { $p knows $q count { $q wrote $_ } > 0 } }`, `return { $p.name }`, "ada cid"},
		// An explicit direction applies to scores. An order by bm25 keeps the rows that contain a
		// query word.
		{`$d: Doc`, `return { $d.slug } order { bm25($d.body, "red box") } limit 9`, "long short"},
		{`$d: Doc`, `return { $d.slug } order { bm25($d.body, "red box") desc } limit 9`, "long short"},
		{`$d: Doc`, `return { $d.slug } order { bm25($d.body, "red box") asc } limit 9`, "short long"},
		{`$d: Doc`, `return { $d.slug } order { bm25($d.body, "red box") asc } limit 1`, "short"},
		{`$d: Doc`, `return { $d.slug, bm25($d.body, "red box") as score } order { score asc } limit 9`, "short long"},
		{`$d: Doc`, `return { $d.slug, bm25($d.body, "red box") as score } limit 9`, "long none short"},
		{`$d: Doc`, `return { $d.slug } order { rrf(bm25($d.body, "red"), bm25($d.body, "fox")) asc } limit 9`, "long short"},
		// Stems are compared, and stop words are not.
		{`$d: Doc search($d.body, "FOX")`, `return { $d.slug }`, "short"},
		{`$d: Doc search($d.body, "of the")`, `return { $d.slug }`, ""},
		// The first of these queries uses the id of a composite key. Outside a `not` block, $_
		// multiplies rows.
		{`$s: Seat $s.id = "[\"14\",\"3\"]"`, `return { $s.row }`, "3"},
		{`$p: Person { name: "cid" } $_ knows $p`, `return { $p.name }`, "cid cid"},
		{`$p: Person { name: "cid" } not { $_ wrote $d $p wrote $d }`, `return { $p.name }`, "cid"},
		// Distinct rows and values, and lists of values. A later column may use an earlier one.
		{`$p knows $q`, `return distinct { $q.name }`, "ada bob cid eve"},
		{`$p knows $q`, `return distinct { $q.name as name } order { name desc } limit 2`, "eve cid"},
		{`$p knows $q`, `return { count(distinct $q) as n, count($q) as all }`, "4"},
		{`$p knows $q`, `return { count($p) as n, n - count(distinct $q.name) as again }`, "5"},
		{`$p knows $q`, `return { size(collect(distinct $q.name)) as n }`, "4"},
		{`$p: Person`, `return { length($p.name) as n, n * 2 as m, m + n as sum } order { sum }`, "3 3 3 3 3"},
		{`$p: Person optional { $q knows $p }`, `return { $p.name as name, count($q) as n } having { n > 1 }`, "cid"},
		{`$p: Person optional { $q knows $p }`, `return { $p.name as name, count($q) as n } having { any { n = 0 name = "eve" } } order { name desc }`, "fay eve"},
		{`$p: Person`, `return { upper($p.name) as name } having { name matches "^[A-C]" }`, "ADA BOB CID"},
		// A row without a match of an `optional` block stays, with nulls.
		{`$p: Person optional { $p wrote $d }`, `return { coalesce($d.slug, "no " + $p.name) as text }`, "no bob no cid no eve no fay short"},
		{`$p: Person optional { $p wrote $d } $d is null`, `return { $p.name } limit 2`, "bob cid"},
		{`$p: Person optional { $p wrote $d } $d.slug != "long"`, `return { $p.name }`, "ada"},
		{`$p: Person optional { $p knows $q $q.name != "cid" }`, `return { count($q) as n, $p.name } order { $p.name }`, "1 0 1 1 0"},
		{`$p: Person optional { $p knows $q } optional { $q wrote $d }`, `return { coalesce($d.slug, $q.name) as s } order { $p.name }`, "bob cid short eve cid"},
		{`$p: Person optional { $p wrote $d }`, `return { coalesce(type($d), "none") as kind, count($p) as n } order { n }`, "Doc none"},
		{`$p: Person optional { $p wrote $d }`, `return { $p.name } order { bm25($d.body, "fox") } limit 9`, "ada"},
	}
	for _, test := range tests {
		q := compileText(t, schema, "query q() { match { "+test.match+" } "+test.rest+" }")
		result, err := g.Query(context.Background(), q.Plan, nil, engine.Target{})
		if err != nil {
			t.Errorf("%s: %v", q.Text, err)
			continue
		}
		var got []string
		for batch, err := result.Next(context.Background()); batch != nil || err != nil; batch, err = result.Next(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			for row := range batch.Len {
				got = append(got, value.Text(batch.Columns[0].Value(row)))
			}
		}
		result.Close()
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s\nfound %v, expected %s", q.Text, got, test.want)
		}
	}
}

// TestCompositeIDs passes wrong ids of a node with a composite key. The errors must describe the
// form of its ids. The error for an id of the right form that does not exist must have no such
// hint.
func TestCompositeIDs(t *testing.T) {
	g, schema := storyGraph(t)
	const form = `the id of a Seat is a JSON array of strings, ["<number>","<row>"], with the values of its key`
	sit := compileText(t, schema, `query sit($seat: String) { insert Sits { from: "ada", to: $seat } }`)
	for id, hint := range map[string]bool{"3,14": true, "[14,3]": true, `["3"]`: true, `["1","3"]`: false} {
		_, inserted := g.Mutate(context.Background(), sit.Plan, engine.Args{value.OfString(id)}, engine.WriteOptions{})
		quoted := strings.ReplaceAll(id, `"`, `\"`)
		_, loaded := g.Load(context.Background(), strings.NewReader(`{"edge":"Sits","from":"ada","to":"`+quoted+`"}`), engine.LoadOptions{Mode: engine.Append})
		for _, err := range []error{inserted, loaded} {
			if err == nil || strings.Contains(err.Error(), form) != hint {
				t.Errorf("to %s: error %v, hint wanted: %t", id, err, hint)
			}
		}
		var violation *engine.ConstraintViolation
		if !errors.As(inserted, &violation) || violation.Rule != "endpoint" {
			t.Errorf("to %s: error %v, expected a violation of endpoint", id, inserted)
		}
	}
}
