package policy

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// filterSchema has properties with and without null.
const filterSchema = `
node Item { code: String @key a: I32? b: I32? t: String? flag: Bool? tags: [String]? day: Date? must: I32 }
edge Next: Item -> Item { n: String w: I32? }
`

// filterData has one node for each interesting state, named after it.
const filterData = `
{"type":"Item","data":{"code":"one","a":1,"b":1,"t":"north","flag":true,"tags":["x"],"day":"2024-01-01","must":1}}
{"type":"Item","data":{"code":"two","a":2,"b":1,"t":"south","flag":false,"tags":[],"day":"2025-01-01","must":2}}
{"type":"Item","data":{"code":"nul","must":3}}
{"type":"Item","data":{"code":"half","a":1,"must":4}}
{"edge":"Next","from":"one","to":"two","data":{"n":"e1","w":1}}
{"edge":"Next","from":"two","to":"nul","data":{"n":"e2"}}
{"edge":"Next","from":"half","to":"one","data":{"n":"e3","w":5}}
`

// idsOf returns the ids that a read answers in its first column, sorted.
func idsOf(t *testing.T, g engine.Graph, q *plan.Query, args engine.Args) []string {
	t.Helper()
	result, err := g.Query(t.Context(), q, args, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var ids []string
	for {
		batch, err := result.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			slices.Sort(ids)
			return ids
		}
		for i := range batch.Len {
			ids = append(ids, batch.Columns[0].Value(i).Str())
		}
	}
}

// filterTest is a filter with the ids for which it is true, and false; it is unknown for the others.
type filterTest struct{ typ, where, yes, no string }

var filterTests = []filterTest{
	{"Item", `$it.a = 1`, "half one", "two"},
	{"Item", `$it.a != 1`, "two", "half one"},
	{"Item", `$it.a < 2`, "half one", "two"},
	{"Item", `$it.a >= 2`, "two", "half one"},
	{"Item", `$it.a = $it.b`, "one", "two"},
	{"Item", `$it.must > 2`, "half nul", "one two"},
	{"Item", `$it.a in [1, 3]`, "half one", "two"},
	{"Item", `"x" in $it.tags`, "one", "two"},
	{"Item", `$it.tags contains "x"`, "one", "two"},
	{"Item", `$it.t starts_with "n"`, "one", "two"},
	{"Item", `$it.t contains "out"`, "two", "one"},
	{"Item", `$it.t matches "^n"`, "one", "two"},
	{"Item", `lower($it.t) = "north"`, "one", "two"},
	{"Item", `$it.a + $it.b = 2`, "one", "two"},
	{"Item", `$it.a / ($it.b - 1) = 1`, "", ""}, // a division by zero has no result
	{"Item", `coalesce($it.b, 0) = 0`, "half nul", "one two"},
	{"Item", `$it.b is null`, "half nul", "one two"},
	{"Item", `$it.b is not null`, "one two", "half nul"},
	{"Item", `$it.day < date("2024-06-01")`, "one", "two"},
	{"Item", `$it.a = 1 $it.b = 1`, "one", "two"},                      // and: false if one is false
	{"Item", `$it.must = 4 $it.b = 1`, "", "nul one two"},              // half is unknown
	{"Item", `any { $it.a = 1 $it.b = 2 }`, "half one", "two"},         // or: true if one is true
	{"Item", `any { $it.a = 2 $it.b = 2 }`, "two", "one"},              // half is unknown
	{"Item", `any { $it.a is null $it.a = 1 }`, "half nul one", "two"}, //
	{"Item", `not { $it.a = 1 }`, "two", "half one"},                   // null hides in not, too
	{"Item", `not { not { $it.a = 1 } }`, "half one", "two"},
	{"Item", `not { $it.a = 1 $it.b = 1 }`, "two", "one"},
	{"Item", `any { all { $it.a = 1 $it.b = 1 } not { $it.must < 4 } }`, "half one", "two"},
	{"Item", `exists { $it next $_ }`, "half one two", "nul"},
	{"Item", `exists { $it next $n  $n.a = 2 }`, "one", "half nul"}, // two leads to a null
	{"Item", `not { $it next $n  $n.a = 2 }`, "half nul", "one"},
	{"Item", `exists { $it next $n  not { $n.a = 1 } }`, "one", "half nul"},
	{"Item", `exists { $it $e:next $_  $e.w > 3 }`, "half", "nul one"},
	{"Item", `exists { $it next $n  exists { $n next $m  $m.a = 2 } }`, "half", "nul two"},
	{"Item", "$it.a = 1 // a comment", "half one", "two"},
	{"Next", `$it.w > 3`, "e3", "e1"},
	{"Next", `exists { $n: Item  $n.id = $it.to  $n.a = 2 }`, "e1", "e3"},
}

// randomFilters combines filters of nodes by blocks, with the logic of three values.
func randomFilters(atoms []filterTest) (list []filterTest) {
	r := rand.New(rand.NewPCG(20261130, 3))
	const no, unknown, yes = 0, 1, 2
	type condition struct {
		text  string
		value map[string]int
	}
	var draw func(depth int) condition
	draw = func(depth int) condition {
		c := condition{value: map[string]int{}}
		form := r.IntN(4)
		if depth == 0 || form == 0 {
			atom := atoms[r.IntN(len(atoms))]
			for atom.typ != "Item" || strings.Contains(atom.where, "//") {
				atom = atoms[r.IntN(len(atoms))]
			}
			c.text = atom.where
			for _, id := range []string{"half", "nul", "one", "two"} {
				c.value[id] = unknown
				if slices.Contains(strings.Fields(atom.yes), id) {
					c.value[id] = yes
				} else if slices.Contains(strings.Fields(atom.no), id) {
					c.value[id] = no
				}
			}
			return c
		}
		a, b := draw(depth-1), draw(depth-1)
		for id := range a.value {
			switch form {
			case 1:
				c.value[id] = max(a.value[id], b.value[id])
			case 2:
				c.value[id] = min(a.value[id], b.value[id])
			case 3:
				c.value[id] = yes - min(a.value[id], b.value[id])
			}
		}
		c.text = []string{"any { all { %s } all { %s } }", "all { %s %s }", "not { %s %s }"}[form-1]
		c.text = fmt.Sprintf(c.text, a.text, b.text)
		return c
	}
	for range 500 {
		c := draw(3)
		test := filterTest{typ: "Item", where: c.text}
		for _, id := range []string{"half", "nul", "one", "two"} {
			switch c.value[id] {
			case yes:
				test.yes += id + " "
			case no:
				test.no += id + " "
			}
		}
		list = append(list, test)
	}
	return list
}

// TestFilterNulls compares the entities for which filters are true and false with what the logic of three values says. It asks
// the engine and the model.
func TestFilterNulls(t *testing.T) {
	schema := clinicSchema(t, filterSchema)
	model := naive.New(filterSchema, schema.Catalog, naive.Sound)
	stored, err := embedded.Create(t.Context(), fs.NewMem(), "graph", filterSchema, schema.Catalog, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	graphs := map[string]engine.Graph{"model": model, "engine": stored}
	edges, faults := gq.CompileQueries(schema.Catalog, gq.Source{Text: `query named($n: String) { match { $_ $e:next $_  $e.n = $n } return { $e.id } }`})
	if faults != nil {
		t.Fatal(faults)
	}
	ids := map[string]map[string]string{} // by graph and name of the edge
	for name, g := range graphs {
		if _, err := g.Load(t.Context(), strings.NewReader(filterData), engine.LoadOptions{Mode: engine.Append}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ids[name] = map[string]string{}
		for _, edge := range []string{"e1", "e2", "e3"} {
			ids[name][edge] = idsOf(t, g, edges[0].Plan, engine.Args{value.OfString(edge)})[0]
		}
	}
	for _, test := range append(filterTests, randomFilters(filterTests)...) {
		entity := plan.Node
		if test.typ == "Next" {
			entity = plan.Edge
		}
		f := filterOf(t, test.typ, test.where)
		rows, faults := compileFilter(f, schema.Catalog, nil, entity, test.typ)
		if rows == nil {
			t.Errorf("%s: %v", test.where, faults)
			continue
		}
		for name, g := range graphs {
			for _, side := range []struct {
				plans [2]*plan.Query
				want  string
			}{{rows.pass, test.yes}, {rows.fail, test.no}} {
				got := idsOf(t, g, side.plans[0], nil)
				var want []string
				for _, id := range strings.Fields(side.want) {
					want = append(want, cmp.Or(ids[name][id], id))
				}
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("%s: %s: got %v, want %v\n%s", name, test.where, got, want, plan.Format(side.plans[0]))
				}
				// The second query confines the same ids to a list.
				var list []value.Value
				var confined []string
				for i, id := range append(slices.Clone(got), "nosuch") {
					if i%2 == 0 {
						list = append(list, value.OfString(id))
						if id != "nosuch" {
							confined = append(confined, id)
						}
					}
				}
				if among := idsOf(t, g, side.plans[1], engine.Args{value.OfList(value.String, list)}); !slices.Equal(among, confined) {
					t.Errorf("%s: %s: got %v among %v, want %v", name, test.where, among, list, confined)
				}
			}
		}
	}
}

// filterOf returns a filter as it is read from a file.
func filterOf(t *testing.T, typ, where string) *protected.Filter {
	t.Helper()
	r := strictyaml.Read("policy.yaml", []byte("filters:\n  f:\n    type: "+typ+"\n    where: |\n      "+strings.ReplaceAll(where, "\n", "\n      ")+"\n"))
	f, _ := r.Root().Fields("policy", "filters")
	rules := protected.Parse(nil, nil, f["filters"])
	if err := r.Faults().Err(); err != nil {
		t.Fatal(err)
	}
	return &rules.Filters[0]
}

// TestFilterFaults gives the faults of conditions and their places in the file. The schema is that of TestRights; without it, only the
// grammar is checked.
func TestFilterFaults(t *testing.T) {
	schema := clinicSchema(t, clinic)
	tests := []struct {
		filter string // the value of filters.f, in one line or as lines of a block
		want   string // place and message
	}{
		{`{ type: Case, where: '$it.tem = "north"' }`, `3:32: error C7: filter f: Case has no property tem`},
		{`{ type: Case, where: "$it.team = 1" }`, `3:39: error C7: filter f: cannot compare`},
		{`{ type: Nosuch, where: "$it.team = 1" }`, `3:14: error C6: unknown type "Nosuch" in filter f`},
		{"\n    type: Case\n    where: |\n      any {\n        $it.urgent = true\n        $it.tem is null\n      }", `8:13: error C7: filter f: Case has no property tem`},
		{`{ type: Case, where: "$it.team =" }`, `filter f: `},
		{`{ type: Case, where: "$it.team = $team" }`, `3:39: error C7: filter f: unbound variable $team`},
		{`{ type: Case, where: "$it.code = \"a\" } } return { $it.id as id } } query g() { match { $it: Case all { $it.code = \"b\"" }`, `the text is not one condition`},
		{`{ type: Case, where: "$it.code = \"a\" } $_ worksOn $it any { $it.code = \"b\"" }`, `the text is not one condition`},
		{`{ type: Case, where: "$_ worksOn $it" }`, `and this clause follows an edge`},
		{`{ type: Person, where: "$it livesIn $c" }`, `and this clause follows an edge`},
		{`{ type: Person, where: "search($it.bio, \"x\")" }`, `a filter does not take a search`},
		{`{ type: Person, where: "exists { $it livesIn $c  bm25($it.bio, \"x\") > 1.0 }" }`, `a filter does not take a search`},
		{`{ type: Person, where: "origin($it).actor is null" }`, `a filter does not take origin()`},
		{`{ type: Person, where: "year(now()) = 2024" }`, `a filter does not take now()`},
		{`{ type: Person, where: "count { $it livesIn $_ } > 1" }`, `a filter does not take a subquery`},
		{`{ type: Person, where: "if($it.salary > 1, 1, 2) = 1" }`, `a filter does not take`},
		{`{ type: Case, where: " " }`, `where is empty`},
		{`{ type: Case }`, `has no where`},
	}
	for _, test := range tests {
		text := "version: 1\nfilters:\n  f: " + test.filter + "\nrules: []\n"
		_, err := Compile("p.yaml", []byte(text), Options{Graph: "g", Schemas: []*catalog.Schema{schema.Catalog}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, test.want)
		}
	}
	_, err := Compile("p.yaml", []byte("version: 1\nfilters:\n  f: { type: Nosuch, where: '$it.x == 1' }\nrules: []\n"), Options{Graph: "g"})
	if err == nil || !strings.Contains(err.Error(), "3:37: error C7: filter f: ") {
		t.Errorf("without a schema: %v", err)
	}
	if _, err := Compile("p.yaml", []byte("version: 1\nfilters:\n  f: { type: Nosuch, where: '$it.x = 1' }\nrules: []\n"), Options{Graph: "g"}); err != nil {
		t.Errorf("without a schema: %v", err)
	}
}
