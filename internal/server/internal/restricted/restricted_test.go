package restricted

import (
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

const source = `
interface Named { name: String  secret: String? }
interface Lone { label: String }
node Person implements Named {
  name: String @key
  secret: String?
  pay: I64?
  bio: String?
  vector: Vector(3)? @embed(bio)
  @unique(secret, pay)
  @index(pay)
  @range(pay, 0..9)
  @check(bio, "x")
}
node Firm implements Named, Lone { name: String @key  secret: String?  label: String }
edge Knows: Person -> Person { since: I32?  pay: I64?  @unique(src, dst, pay) }
edge Owns: Named -> Firm
edge Tags: Person -> Lone
`

func compiled(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// outline lists the types of a schema with their properties and rules.
func outline(s *catalog.Schema) string {
	var lines []string
	line := func(kind, name string, props []*catalog.Property, rules []string) {
		for _, p := range props {
			name += " " + p.Name
		}
		lines = append(lines, strings.TrimSpace(kind+" "+name+" "+strings.Join(rules, " ")))
	}
	for _, i := range s.Interfaces {
		line("interface", i.Name, i.Properties, nil)
	}
	for _, n := range s.Nodes {
		line("node", n.Name, n.Properties, n.Rules())
	}
	for _, e := range s.Edges {
		line("edge", e.Name, e.Properties, e.Rules())
	}
	return strings.Join(lines, "\n")
}

// hiding returns rights that hide types, and properties written as Type.property.
func hiding(names ...string) *engine.Rights {
	r := &engine.Rights{Digest: strings.Join(names, " "), Nodes: map[string]*engine.TypeRights{}, Edges: map[string]*engine.TypeRights{}}
	for _, name := range names {
		typ, property, _ := strings.Cut(name, ".")
		types := r.Nodes
		if typ == "Knows" || typ == "Owns" || typ == "Tags" {
			types = r.Edges
		}
		if types[typ] == nil {
			types[typ] = &engine.TypeRights{}
		}
		if property == "" {
			types[typ].None = true
		} else {
			types[typ].Properties = append(types[typ].Properties, property)
		}
	}
	return r
}

func TestReduce(t *testing.T) {
	s := compiled(t, source)
	const firm = "node Firm name secret label @key(name)"
	for _, c := range []struct {
		hidden []string
		want   string
	}{
		{[]string{"Firm"}, "interface Named name secret\nnode Person name secret pay bio vector @key(name) @unique(secret, pay) @index(pay) @range(pay, 0..9) @check(bio, \"x\")\nedge Knows since pay @unique(src, dst, pay)"},
		{[]string{"Person"}, "interface Named name secret\ninterface Lone label\n" + firm + "\nedge Owns"},
		{[]string{"Person.secret"}, "interface Named name\ninterface Lone label\nnode Person name pay bio vector @key(name) @index(pay) @range(pay, 0..9) @check(bio, \"x\")\n" + firm + "\nedge Knows since pay @unique(src, dst, pay)\nedge Owns\nedge Tags"},
		{[]string{"Person.pay", "Knows.pay"}, "interface Named name secret\ninterface Lone label\nnode Person name secret bio vector @key(name) @check(bio, \"x\")\n" + firm + "\nedge Knows since\nedge Owns\nedge Tags"},
		{[]string{"Person.bio"}, "interface Named name secret\ninterface Lone label\nnode Person name secret pay @key(name) @unique(secret, pay) @index(pay) @range(pay, 0..9)\n" + firm + "\nedge Knows since pay @unique(src, dst, pay)\nedge Owns\nedge Tags"},
		{[]string{"Person.name"}, outline(s)}, // a key cannot be hidden
		{[]string{"Knows", "Tags"}, strings.Replace(strings.Replace(outline(s), "\nedge Knows since pay @unique(src, dst, pay)", "", 1), "\nedge Tags", "", 1)},
		{[]string{"Person", "Firm"}, ""},
	} {
		if got := outline(Reduce(s, hiding(c.hidden...))); got != c.want {
			t.Errorf("without %v:\n%s\nwant\n%s", c.hidden, got, c.want)
		}
	}
}

// TestOtherSchema tests that what the schema of main lacks is hidden in another state.
func TestOtherSchema(t *testing.T) {
	schema := func(text string) *engine.Schema {
		s := compiled(t, text)
		return &engine.Schema{Source: text, Catalog: s, Digest: catalog.Digest(s)}
	}
	main := schema("node Person { name: String @key  age: I32? }\nedge Knows: Person -> Person")
	old := schema("node Person { name: String @key  age: I32?  pay: I64? }\nnode Box { name: String @key }\nedge Knows: Person -> Person { pay: I64? }\nedge Likes: Person -> Person")
	var c Cache
	if r := c.rights(nil, main, old); r != nil {
		t.Errorf("%+v", r)
	}
	r := hiding("Person.age")
	if c.rights(r, main, main) != r {
		t.Error("the rights on main differ")
	}
	w := c.rights(r, main, old)
	if got := outline(c.Schema(old, w).Catalog); got != "node Person name @key(name)\nedge Knows" || w.Digest == r.Digest {
		t.Errorf("%s, digest %s", got, w.Digest)
	}
	if _, err := Source(c.Schema(old, w), "the text"); err == nil {
		t.Error("a reduced schema has a text")
	}
	if text, err := Source(old, "the text"); err != nil || text == "" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestPlan(t *testing.T) {
	s := compiled(t, source)
	at := &engine.Schema{Source: source, Catalog: s, Digest: catalog.Digest(s)}
	for _, c := range []struct {
		query  string
		hidden string
		want   string // the columns; "" if the query is hidden, and "same" if it is the same plan
	}{
		{`match { $p: Person } return { $p.name }`, "Person.pay", "same"},
		{`match { $p: Person } return { $p }`, "Person.pay", "{ id: String, name: String, secret: String?, bio: String?, vector: Vector(3)? }"},
		{`match { $p: Person } return { $p }`, "Knows.pay", "same"},
		{`match { $p: Person } return { $p.pay }`, "Person.pay", ""},
		{`match { $p: Person } return { $p.name, origin($p).at as at }`, "Knows.pay", "same"},
		{`match { $p: Person } return { $p.name, origin($p).tool as tool }`, "Knows.pay", ""},
		{`match { $p: Person } return { $p.name, origin($p).at as at }`, "Person.pay", ""},
		{`match { $p: Person } return { $p.name } order { origin($p).at desc }`, "Person.pay", ""},
		{`match { $p: Person $p $k:knows $q origin($k).actor = "x" } return { $p.name }`, "Knows.pay", ""},
		{`match { $p: Person not { $p knows $q origin($q).at < now() } } return { $p.name }`, "Person.pay", ""},
		{`match { $n: Named } return { $n.name, origin($n).actor as by }`, "Firm.secret", ""},
		{`match { $p: Person } return { $p.name, count { $p knows $q origin($q).actor = "x" } as n }`, "Person.pay", ""},
		{`match { $p: Person origin($p).actor = "x" } { update Person set { bio: "x" } where name = $p.name }`, "Person.pay", ""},
		{`match { $p: Person $p.pay > 1 } return { $p.name }`, "Person.pay", ""},
		{`match { $p: Person } return { $p.name } order { $p.pay }`, "Person.pay", ""},
		{`match { $p: Person } return { sum($p.pay) as n }`, "Person.pay", ""},
		{`match { $p: Person } return { $p, $p.pay + 1 as more }`, "Person.pay", ""},
		{`match { $p: Person { pay: 3 } } return { $p }`, "Person.pay", ""},
		{`match { $p: Person not { $p.pay = 3 } } return { $p }`, "Person.pay", ""},
		{`match { $p: Person search($p.bio, "x") } return { $p.name }`, "Person.bio", ""},
		{`match { $p: Person } return { $p.name } order { bm25($p.bio, "x") desc } limit 3`, "Person.bio", ""},
		{`match { $p: Person } return { $p.name } order { nearest($p.vector, "x") } limit 3`, "Person.bio", ""},
		{`match { $p: Person $p $k:knows $q } return { $p.name, $k.pay }`, "Person.pay", "same"},
		{`match { $p: Person $p $k:knows $q } return { $p.name, $k.pay }`, "Knows.pay", ""},
		{`match { $p: Person $p $k:knows $q } return { $q, $k.pay }`, "Person.pay", "{ id: String, name: String, secret: String?, bio: String?, vector: Vector(3)? } I64?"},
		{`match { $p: Person $p knows $q } return { collect($q) as all }`, "Person.pay", "[{ id: String, name: String, secret: String?, bio: String?, vector: Vector(3)? }]"},
		{`match { $p: Person } return { $p.name, collect { $p knows $q return { $q } limit 3 } as all }`, "Person.pay", "String [{ q: { id: String, name: String, secret: String?, bio: String?, vector: Vector(3)? } }]"},
		{`match { $p: Person } return { $p.name, collect { $p knows $q return { $q.pay } limit 3 } as all }`, "Person.pay", ""},
		{`match { $p: Person } return { count { $p knows $q $q.pay > 3 } as n }`, "Person.pay", ""},
		{`match { $p: Person $p knows $q } return { $p.name }`, "Knows", ""},
		{`match { $n: Named } return { $n }`, "Firm.secret", "{ id: String, name: String, type: String }"},
		{`match { $n: Named } return { $n.secret }`, "Firm.secret", ""},
		{`match { $n: Named } return { $n.name }`, "Firm", "String"}, // a plan of its own, because its answer has fewer types
		{`match { $n: Lone } return { $n.label }`, "Firm", ""},
		{`match { $p: Person $p knows $p } return { $p.name }`, "Person", ""},
		{`insert Person { name: "x", pay: 1 }`, "Person.pay", ""},
		{`$p = insert Person { name: "x" } return { $p }`, "Person.pay", "{ id: String, name: String, secret: String?, bio: String?, vector: Vector(3)? }"},
		{`update Person set { bio: "x" } where pay = 3`, "Person.pay", ""},
		{`update Person set { pay: pay + 1 } where name = "x"`, "Person.pay", ""},
		{`match { $p: Person $p.pay > 1 } { update Person set { bio: "x" } where name = $p.name }`, "Person.pay", ""},
		{`update Person set { bio: "x" } where name = "x"`, "Person.pay", "same"},
	} {
		queries, faults := gq.CompileQueries(s, gq.Source{Name: "q.gq", Text: "query q() { " + c.query + " }"})
		if err := faults.Err(); err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		q := queries[0].Plan
		before := *q
		var cache Cache
		got := cache.Plan(q, at, hiding(c.hidden))
		text := ""
		switch {
		case got == q:
			text = "same"
		case got != nil:
			var columns []plan.Column
			if got.Read != nil {
				columns = got.Read.Columns
			} else {
				columns = got.Mutation.Returns
			}
			var types []string
			for _, column := range columns {
				types = append(types, column.TypeText())
			}
			text = strings.Join(types, " ")
			if err := admits(got, s, Reduce(s, hiding(c.hidden))); err != nil {
				t.Errorf("%s: %v", c.query, err)
			}
		}
		if text != c.want {
			t.Errorf("%s without %s: %q, want %q", c.query, c.hidden, text, c.want)
		}
		if !reflect.DeepEqual(&before, q) {
			t.Errorf("%s: the plan changed", c.query)
		}
		if text != "same" && admits(q, s, Reduce(s, hiding(c.hidden))) == nil && text != "String" {
			t.Errorf("%s without %s: the whole plan is admitted", c.query, c.hidden)
		}
	}
}
