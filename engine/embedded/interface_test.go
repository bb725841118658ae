package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

const zooSchema = `
interface Named { name: String }
interface Tagged { tag: String? }
node Cat implements Named, Tagged { name: String @key lives: I32 }
node Dog implements Named { name: String @index kind: String? }
node Fish implements Named, Tagged { deep: Bool? }
node Rock { name: String @key }
node Entry { slug: String @key kind: String }
edge Chases: Dog -> Cat
edge Eats: Cat -> Fish
`

// zoo has two cats, two dogs and a fish. The fish has the id of a cat, and a dog has the name of the fish.
const zoo = `
{"type":"Cat","data":{"name":"tom","lives":9,"tag":"grey"}}
{"type":"Cat","data":{"name":"kit","lives":7}}
{"type":"Dog","data":{"id":"d1","name":"rex","kind":"pug"}}
{"type":"Dog","data":{"id":"d2","name":"nemo"}}
{"type":"Fish","data":{"id":"tom","name":"nemo","tag":"grey"}}
{"type":"Rock","data":{"name":"tom"}}
{"edge":"Chases","from":"d1","to":"tom"}
{"edge":"Chases","from":"d1","to":"kit"}
{"edge":"Eats","from":"kit","to":"tom"}
`

func zooGraph(t *testing.T, opts embedded.Options) (*embedded.Graph, *catalog.Schema) {
	t.Helper()
	schema, faults := gq.CompileSchema(gq.Source{Name: "zoo.pg", Text: zooSchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(context.Background(), zooSchema, schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if _, err := g.Load(context.Background(), strings.NewReader(zoo), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	return g, schema
}

// rowsOf runs a query and returns the rows: the values of a row are joined by spaces, and the rows by bars.
func rowsOf(t *testing.T, g *embedded.Graph, q *gq.Query, args ...value.Value) string {
	t.Helper()
	result, err := g.Query(context.Background(), q.Plan, args, engine.Target{})
	if err != nil {
		t.Fatalf("%s: %v", q.Text, err)
	}
	defer result.Close()
	var rows []string
	for {
		batch, err := result.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			return strings.Join(rows, " | ")
		}
		for row := range batch.Len {
			var cells []string
			for _, c := range batch.Columns {
				if v := c.Value(row); v.IsNull() {
					cells = append(cells, "null")
				} else {
					cells = append(cells, value.Text(v))
				}
			}
			rows = append(rows, strings.Join(cells, " "))
		}
	}
}

// TestInterfaceTexts runs reads with variables over interfaces.
func TestInterfaceTexts(t *testing.T) {
	g, schema := zooGraph(t, embedded.Options{})
	tests := []struct{ match, rest, want string }{
		{`$n: Named`, `return { $n.type, $n.id }`, "Cat kit | Cat tom | Dog d1 | Dog d2 | Fish tom"},
		{`$n: Named`, `return { $n.id } order { $n.name desc } limit 2`, "tom | d1"},
		{`$n: Tagged`, `return { type($n) as kind, $n.tag }`, "Cat null | Cat grey | Fish grey"},
		{`$n: Named { name: "nemo" }`, `return { $n.type, $n.id }`, "Dog d2 | Fish tom"},
		{`$n: Named $n.id = "tom"`, `return { $n.type, $n.name }`, "Cat tom | Fish nemo"},
		{`$n: Named $n.id in ["tom", "d1"]`, `return { $n.type }`, "Cat | Dog | Fish"},
		{`$n: Named $n.type in ["Dog", "Rock"]`, `return { $n.id }`, "d1 | d2"},
		{`$n: Named $r: Rock $n.id = $r.id`, `return { $n.type }`, "Cat | Fish"},
		// Narrowing, and one node as two interfaces.
		{`$n: Named $c: Cat $c = $n`, `return { $c.name, $c.lives }`, "kit 7 | tom 9"},
		{`$n: Named $t: Tagged $n = $t`, `return { $n.type, $t.id }`, "Cat kit | Cat tom | Fish tom"},
		{`$n: Named $m: Named $n.name = $m.name $n != $m`, `return { $n.type, $m.type }`, "Fish Dog | Dog Fish"},
		{`$n: Named optional { $c: Cat $c = $n }`, `return { $n.id, $c.lives }`, "d1 null | d2 null | tom null | kit 7 | tom 9"},
		{`$n: Named any { $n.type = "Fish" exists { $c: Cat $c = $n $c.lives > 8 } }`, `return { $n.type, $n.id }`, "Cat tom | Fish tom"},
		// The order of the traversals does not matter, and nodes that do not fit an end do not match.
		{`$n: Named $n chases $m $m eats $f`, `return { $n.id, $m.id, $f.id }`, "d1 kit tom"},
		{`$n: Named $m eats $f $n chases $m`, `return { $n.id, $m.id, $f.id }`, "d1 kit tom"},
		{`$n: Named $m: Named $n chases $m`, `return { $n.id, $m.id }`, "d1 kit | d1 tom"},
		{`$n: Tagged $n chases $d`, `return { $n.id, $d.id }`, "kit d1 | tom d1"},
		{`$c: Cat $n: Named $n eats $c`, `return { $n.type }`, "Fish"},
		{`$n: Named not { $n chases $_ } not { $_ chases $n }`, `return { $n.type, $n.id }`, "Dog d2 | Fish tom"},
		{`$n: Named`, `return { $n.id, count { $n chases $_ } as prey } order { prey desc } limit 1`, "d1 2"},
		// Groups and distinct nodes.
		{`$n: Named`, `return { $n.type, count($n) as n } order { n desc, $n.type }`, "Cat 2 | Dog 2 | Fish 1"},
		{`$n: Named`, `return { count(distinct $n) as n, count(distinct $n.id) as ids }`, "5 4"},
		{`$n: Named`, `return distinct { $n.name } order { $n.name }`, "kit | nemo | rex | tom"},
	}
	for _, test := range tests {
		q := compileText(t, schema, "query q() { match { "+test.match+" } "+test.rest+" }")
		if got := rowsOf(t, g, q); got != test.want {
			t.Errorf("%s\nfound %s, expected %s", q.Text, got, test.want)
		}
	}
}

// TestInterfaceLookups checks how a read with a variable over an interface finds the nodes with a value, and that it
// sees later writes.
func TestInterfaceLookups(t *testing.T) {
	g, schema := zooGraph(t, embedded.Options{})
	var dogs strings.Builder // so many that an index is cheaper than a scan
	for i := range 400 {
		fmt.Fprintf(&dogs, `{"type":"Dog","data":{"id":"x%d","name":"x%d"}}`+"\n", i, i)
	}
	if _, err := g.Load(context.Background(), strings.NewReader(dogs.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ match, want string }{
		{`$n: Named`, "scan Named $n: each Cat, Dog, Fish"},
		{`$n: Named { name: "tom" }`, "probe Named $n by name = \"tom\": Cat by key, Dog by index, each Fish"},
		{`$n: Named $n.id = "tom"`, "probe Named $n by id = \"tom\": Cat by key, Dog by key, Fish by key"},
		{`$c: Cat { name: "tom" } $n: Named $n = $c`, "widen $n = $c"},
		{`$n: Named $n.id = "d1" $n chases $c`, "narrow $n = $n as Dog"},
		{`$n: Named $n = $who`, "probe Named $n by type and id = $who: Cat by key, Dog by key, Fish by key"},
		{`$n: Named $n.id = "tom" $n = $who`, "probe Named $n by type and id = $who: Cat by key, Dog by key, Fish by key"},
		{`$n: Named $c: Cat $c = $who $n = $c`, "lookup Cat $c by id = $who"},
	}
	who := engine.Args{plan.OfNode("Cat", "tom")}
	for _, test := range tests {
		q := compileText(t, schema, "query q($who: Named) { match { "+test.match+" } return { $n.type } }")
		e, err := g.Explain(context.Background(), q.Plan, who, engine.Target{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.String(), test.want) {
			t.Errorf("%s: expected %q in the plan\n%s", test.match, test.want, e)
		}
	}
	byName := compileText(t, schema, `query q($name: String) { match { $n: Named { name: $name } } return { $n.type, $n.id } }`)
	put := compileText(t, schema, `query put() { insert Cat { name: "nemo", lives: 1 } insert Fish { id: "f2", name: "nemo" } delete Dog where id = "d2" }`)
	if got, want := rowsOf(t, g, byName, value.OfString("nemo")), "Dog d2 | Fish tom"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	if _, err := g.Mutate(context.Background(), put.Plan, nil, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(t, g, byName, value.OfString("nemo")), "Cat nemo | Fish f2 | Fish tom"; got != want {
		t.Errorf("after the mutation, found %s, expected %s", got, want)
	}
}

// TestInterfaceArguments runs reads that compare nodes with arguments that are nodes of an interface.
func TestInterfaceArguments(t *testing.T) {
	g, schema := zooGraph(t, embedded.Options{})
	cat, fish, none := plan.OfNode("Cat", "tom"), plan.OfNode("Fish", "tom"), plan.OfNode("Dog", "tom")
	tests := []struct {
		match, rest string
		who         value.Value
		want        string
	}{
		{`$n: Named $n = $who`, `return { $n.type, $n.name }`, cat, "Cat tom"},
		{`$n: Named $who = $n`, `return { $n.type, $n.name }`, fish, "Fish nemo"},
		{`$n: Named $n = $who`, `return { $n.type, $n.name }`, none, ""},
		{`$n: Named $n = $who`, `return { $n.type, $n.name }`, value.Null, ""},
		{`$n: Named $n = $who?`, `return { count($n) as n }`, value.Null, "5"},
		{`$n: Named $n != $who`, `return { $n.type, $n.id }`, cat, "Cat kit | Dog d1 | Dog d2 | Fish tom"},
		{`$n: Tagged $n = $who`, `return { $n.type, $n.tag }`, fish, "Fish grey"},
		{`$c: Cat $c = $who`, `return { $c.name, $c.lives }`, cat, "tom 9"},
		{`$c: Cat $c = $who`, `return { $c.name, $c.lives }`, fish, ""},
		{`$c: Cat $c != $who`, `return { $c.name }`, fish, "kit | tom"},
		{`$c: Cat $c != $who`, `return { $c.name }`, cat, "kit"},
		{`$c: Cat $c = $who $n: Named $n chases $c`, `return { $n.id }`, cat, "d1"},
		{`$n: Named $n = $who $n eats $f`, `return { $f.id }`, plan.OfNode("Cat", "kit"), "tom"},
		{`$d: Dog $d chases{1,2} $c $c = $who`, `return { $d.id }`, cat, "d1"},
		{`$n: Named not { $n = $who }`, `return { count($n) as n }`, cat, "4"},
		{`$n: Named any { $who is null $n = $who }`, `return { count($n) as n }`, value.Null, "5"},
		{`$n: Named optional { $c: Cat $c = $n $c = $who }`, `return { $n.id, $c.lives }`, cat, "kit null | d1 null | d2 null | tom null | tom 9"},
		{`$n: Named`, `return { $n.type as type, $n.id as id, ($n = $who) as same } order { same desc, type, id } limit 2`, cat, "Cat tom true | Cat kit false"},
		{`$n: Named`, `return { if($n = $who, 1, 0) as same, count($n) as n } order { same }`, cat, "0 4 | 1 1"},
	}
	for _, test := range tests {
		q := compileText(t, schema, "query q($who: Named?) { match { "+test.match+" } "+test.rest+" }")
		if got := rowsOf(t, g, q, test.who); got != test.want {
			t.Errorf("%s\nfound %s, expected %s", q.Text, got, test.want)
		}
	}
}

// TestInterfaceMatchBlock runs statements for each node of an interface.
func TestInterfaceMatchBlock(t *testing.T) {
	g, schema := zooGraph(t, embedded.Options{})
	m := compileText(t, schema, `query list() { match { $n: Tagged } { upsert Entry { slug: $n.type + $n.id, kind: $n.type } } }`)
	if _, err := g.Mutate(context.Background(), m.Plan, nil, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	q := compileText(t, schema, `query q() { match { $e: Entry } return { $e.slug, $e.kind } }`)
	if got, want := rowsOf(t, g, q), "Catkit Cat | Cattom Cat | Fishtom Fish"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

// TestInterfaceMemory checks that the texts that identify nodes of an interface count to the memory of a read.
func TestInterfaceMemory(t *testing.T) {
	g, schema := zooGraph(t, embedded.Options{QueryMemory: 1 << 18})
	q := compileText(t, schema, `query q() { match { $a: Named $b: Named $c: Named $d: Named $e: Named $f: Named } return { count(distinct $a) as n, $f.id, $e.id, $d.id, $c.id, $b.id } }`)
	var large *engine.TooLarge
	result, err := g.Query(context.Background(), q.Plan, nil, engine.Target{})
	if err == nil {
		result.Close()
	}
	if !errors.As(err, &large) {
		t.Errorf("found %v, expected *engine.TooLarge", err)
	}
}

// TestInterfaceWalkFacts reads a fact about a walk to a node that an interface variable bound before.
// The engine reads the fact before it knows whether the walk ends at that node.
func TestInterfaceWalkFacts(t *testing.T) {
	const text = `
interface Food { size: I32 }
node Apple implements Food { sort: String? }
edge Meets: Apple -> Apple
`
	schema, faults := gq.CompileSchema(gq.Source{Name: "food.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(context.Background(), text, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	const data = `{"type":"Apple","data":{"id":"n1","size":1}}
{"type":"Apple","data":{"id":"n9","size":9}}
{"type":"Apple","data":{"id":"n5","size":5}}
{"edge":"Meets","from":"n1","to":"n5"}`
	if _, err := g.Load(context.Background(), strings.NewReader(data), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	q := compileText(t, schema, `query q() { match { $f: Food $a: Apple exists { $w.types contains "Apple" $a $w:meets{0,2} $f } } return { $a.id, $f.id } order { $a.id, $f.id } }`)
	if got, want := rowsOf(t, g, q), "n1 n1 | n1 n5 | n5 n5 | n9 n9"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}
