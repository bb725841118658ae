package breaking_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
)

const schema = `
interface Slugged { slug: String }
interface Other { slug: String }
node Person implements Slugged {
  slug: String @key
  name: String
  kind: enum(a, b)
  age: I32
  big: I64?
  note: String?
  tags: [String]
  @range(age, 0..150)
  @check(name, "^[a-z]+$")
}
node Pet { slug: String @key  name: String  kind: enum(a, b)? }
edge Owns: Person -> Pet
`

// contract compiles queries and returns their contract.
func contract(t *testing.T, schema, queries string) *codegen.Contract {
	t.Helper()
	out, diags, err := codegen.Generate(codegen.Graph{
		Name: "g", Schema: gq.Source{Name: "s.pg", Text: schema}, Queries: []gq.Source{{Name: "a.gq", Text: queries}},
	})
	if err != nil || diags.HasErrors() {
		t.Fatalf("%v, %v in\n%s", err, diags, queries)
	}
	var c codegen.Contract
	if err := json.Unmarshal(out.Package[codegen.ContractFile], &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

const read = `query find($slug: String, $age: I32?) @description("Find.") {
  match { $p: Person { slug: $slug, age: $age? } }
  return { $p.name as name, $p.kind as kind, $p.note as note, $p.age as age }
}`

const write = `query put($slug: String, $name: String) @description("Put.") { insert Pet { slug: $slug, name: $name } }`

// ends is a query with the target of an edge.
const ends = `query q() { match { $p: Person $p $w:owns $x } return { $p.slug, $w.to as to } }`

// ranged returns a query with a parameter that has the given @range.
func ranged(bounds string) string {
	return "query q($n: I32 @range(" + bounds + ")) { match { $p: Person } return { $p.slug, $n as n } }"
}

// ownsPet returns a query with a clause that binds $x to a pet.
func ownsPet(clause string) string {
	return "query q() { match { $p: Person " + clause + " } return { $p.slug, $x as pet, $x.name as name } }"
}

// listsPets returns a query with an aggregate over the pets of each person.
func listsPets(aggregate string) string {
	return "query q() { match { $p: Person $p owns $x } return { $p.slug, " + aggregate + " as pets } }"
}

// checked returns a query with a parameter that has the given annotation.
func checked(annotation string) string {
	return "query q($n: String " + annotation + ") { match { $p: Person { note: $n } } return { $p.slug } }"
}

// replaced returns `text` after it has replaced each old string of the given pairs by the new one.
// Each old string must occur.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in\n%s", pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// nested returns a query with a block that has the given keyword, fields and end.
func nested(keyword, fields, end string) string {
	return "query q() { match { $p: Person } return { $p.slug, " + keyword + " { $p owns $x return { " + fields + " } " + end + " } as pets } }"
}

// putting returns a mutation with a list of records that have the given fields.
func putting(fields string) string {
	return "query q($all: [{ " + fields + " }]) { for $x in $all { insert Pet { slug: $x.slug, name: $x.name } } }"
}

// node returns a query with a parameter that is a node of the given type or interface.
func node(typ string) string {
	return "query q($who: " + typ + ") { match { $n: " + typ + " $n = $who } return { $n.slug as slug } }"
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name          string
		before, after string
		toSchema      []string // pairs of old and new text that make the later schema
		want          []breaking.Kind
		text          string // text that the message of the first change must contain
	}{
		{"nothing", read, read, nil, nil, ""},
		{"added", read, read + write, nil, []breaking.Kind{breaking.QueryAdded}, "put"},
		{"removed", read + write, read, nil, []breaking.Kind{breaking.QueryRemoved}, "put"},
		{"renamed", read, replaced(t, read, "query find(", "query search(", `@description`, `@mcp(tool_name: "find", title: "Find") @description`), nil,
			[]breaking.Kind{breaking.QueryRenamed}, "find was renamed to search"},
		{"tool renamed", read, replaced(t, read, `@description`, `@mcp(tool_name: "lookup") @description`), nil, []breaking.Kind{breaking.ToolRenamed}, "lookup"},
		{"hidden", read, replaced(t, read, `@description`, `@mcp(expose: false) @description`), nil, []breaking.Kind{breaking.ToolHidden}, "hidden"},
		{"exposed", replaced(t, read, `@description`, `@mcp(expose: false) @description`), read, nil, []breaking.Kind{breaking.ToolExposed}, "exposed"},
		{"title", read, replaced(t, read, `@description`, `@mcp(title: "Look up") @description`), nil, []breaking.Kind{breaking.TextChanged}, "Look up"},
		{"description", read, replaced(t, read, `"Find."`, `"Find it."`), nil, []breaking.Kind{breaking.TextChanged}, "description"},
		{"param description", read, replaced(t, read, `$slug: String,`, `$slug: String @description("It."),`), nil, []breaking.Kind{breaking.TextChanged}, "slug"},
		{"field of a parameter added", putting("slug: String, name: String"), putting("slug: String, age: I32?, name: String"), nil, []breaking.Kind{breaking.ParamAdded}, "the optional parameter all.age: I32 was added"},
		{"required field of a parameter added", putting("slug: String, name: String"), putting("slug: String, name: String, age: I32"), nil, []breaking.Kind{breaking.ParamAddedRequired}, "the required parameter all.age: I32 was added"},
		{"field of a parameter removed", putting("slug: String, name: String, age: I32"), putting("slug: String, name: String"), nil, []breaking.Kind{breaking.ParamRemoved}, "the parameter all.age was removed"},
		{"field of a parameter optional", putting("slug: String, name: String, age: I32"), putting("slug: String, name: String, age: I32?"), nil, []breaking.Kind{breaking.ParamOptional}, "the parameter all.age is now optional"},
		{"field of a parameter required", putting("slug: String, name: String, age: I32?"), putting("slug: String, name: String, age: I32"), nil, []breaking.Kind{breaking.ParamRequired}, "the parameter all.age is now required"},
		{"field of a parameter widened", putting("slug: String, name: String, age: I32?"), putting("slug: String, name: String, age: I64?"), nil, []breaking.Kind{breaking.ParamWidened}, "the type of the parameter all.age is now I64; it was I32"},
		{"field of a parameter retyped", putting("slug: String, name: String, age: I64"), putting("slug: String, name: String, age: I32"), nil, []breaking.Kind{breaking.ParamRetyped}, "the type of the parameter all.age is now I32; it was I64"},
		{"fields of a parameter in another order", putting("slug: String, name: String"), putting("name: String, slug: String"), nil, nil, ""},
		{"records to texts", "query q($all: [{ slug: String }]) { for $x in $all { delete Pet where slug = $x.slug } }", "query q($all: [String]) { for $x in $all { delete Pet where slug = $x } }", nil, []breaking.Kind{breaking.ParamRetyped}, "the type of the parameter all is now [String]; it was [{ slug: String }]"},
		{"field added", nested("first", "$x.name as name", ""), nested("first", "$x.name as name, $x.kind as kind", ""), nil, []breaking.Kind{breaking.ColumnAdded}, "the column pets.kind was added"},
		{"field removed", nested("collect", "$x.name as name, $x.kind as kind", "limit 3"), nested("collect", "$x.name as name", "limit 3"), nil, []breaking.Kind{breaking.ColumnRemoved}, "the column pets.kind was removed"},
		{"field nullable", nested("collect", "$x.name as name", "limit 3"), nested("collect", "$x.kind + \"\" as name", "limit 3"), nil, []breaking.Kind{breaking.ColumnNullable}, "the column pets.name may now be null"},
		{"field retyped", nested("collect", "$x.name as name", "limit 3"), nested("collect", "length($x.name) as name", "limit 3"), nil, []breaking.Kind{breaking.ColumnRetyped}, "the type of the column pets.name is now I32; it was String"},
		{"record to a list", nested("first", "$x.name as name", ""), nested("collect", "$x.name as name", "limit 3"), nil, []breaking.Kind{breaking.ColumnRetyped}, "the column pets is now a list of records; it was a record"},
		{"list to a number", nested("collect", "$x.name as name", "limit 3"), "query q() { match { $p: Person } return { $p.slug, count { $p owns $_ } as pets } }", nil, []breaking.Kind{breaking.ColumnRetyped}, "the column pets is now of type I64; it was a list of records"},
		{"ids to nodes", listsPets("collect($x.id)"), listsPets("collect($x)"), nil, []breaking.Kind{breaking.ColumnRetyped}, "the column pets is now a list of Pet nodes; it was of type [String]"},
		{"node to a list of nodes", ownsPet("$p owns $x"), replaced(t, ownsPet("$p owns $x"), "$x as pet", "collect($x) as pet"), nil, []breaking.Kind{breaking.ColumnRetyped}, "the column pet is now a list of Pet nodes; it was the node Pet"},
		{"field of nodes in a list removed", listsPets("collect($x)"), listsPets("collect($x)"), []string{"  kind: enum(a, b)? }", " }"}, []breaking.Kind{breaking.ColumnRemoved}, "the column pets.kind was removed"},
		{"records in records", nested("collect", "first { $q owns $x return { $q.name as name, $q.age as age } } as owner", "limit 3"), nested("collect", "first { $q owns $x return { $q.name as name } } as owner", "limit 3"), nil, []breaking.Kind{breaking.ColumnRemoved}, "the column pets.owner.age was removed"},
		{"caller used", listsPets("collect($x.id)"), replaced(t, listsPets("collect($x.id)"), "$p owns $x", "$p owns $x $p.slug = actor().id"), nil, []breaking.Kind{breaking.CallerAdded, breaking.TextChanged}, "the query now uses actor().id"},
		{"caller not used", replaced(t, listsPets("collect($x.id)"), "$p owns $x", "$p owns $x $p.slug in actor().groups"), listsPets("collect($x.id)"), nil, []breaking.Kind{breaking.TextChanged, breaking.CallerRemoved}, "the description"},
		{"became a mutation", replaced(t, read, "query find", "query put", "Find.", "Put.", ", $age: I32?", ", $name: String?", "age: $age?", "name: $name?"), write, nil,
			[]breaking.Kind{breaking.ParamRequired, breaking.BecameMutation, breaking.TextChanged, breaking.ParamLoosened}, ""},
		{"became a read", `query q($slug: String) { insert Pet { slug: $slug, name: "x" } }`, `query q($slug: String) { match { $p: Pet { slug: $slug } } return { $p.name } }`, nil,
			[]breaking.Kind{breaking.BecameRead, breaking.TextChanged}, ""},
		{"became destructive", `query q($a: String, $b: String) { insert Owns { from: $a, to: $b } }`,
			`query q($a: String, $b: String) { insert Owns { from: $a, to: $b } update Pet set { name: "x" } where slug = $b }`, nil,
			[]breaking.Kind{breaking.BecameDestructive}, "destructive"},
		{"not destructive", `query q($a: String, $b: String) { insert Owns { from: $a, to: $b } update Pet set { name: "x" } where slug = $b }`,
			`query q($a: String, $b: String) { insert Owns { from: $a, to: $b } }`, nil,
			[]breaking.Kind{breaking.NotDestructive}, "destructive"},
		{"not idempotent", write, replaced(t, write, "@description", "@mcp(idempotent: false) @description"), nil, []breaking.Kind{breaking.NotIdempotent}, ""},
		{"idempotent", replaced(t, write, "@description", "@mcp(idempotent: false) @description"), write, nil, []breaking.Kind{breaking.BecameIdempotent}, ""},

		{"optional added", read, replaced(t, read, "$age: I32?", "$age: I32?, $name: String?", "age: $age?", "age: $age?, name: $name?"), nil, []breaking.Kind{breaking.ParamAdded}, "name: String"},
		{"required added", read, replaced(t, read, "$age: I32?", "$age: I32?, $name: String", "age: $age?", "age: $age?, name: $name"), nil, []breaking.Kind{breaking.ParamAddedRequired}, "name: String"},
		{"param removed", read, replaced(t, read, ", $age: I32?", "", ", age: $age?", ""), nil, []breaking.Kind{breaking.ParamRemoved}, "age"},
		{"required", read, replaced(t, read, "$age: I32?", "$age: I32", "age: $age?", "age: $age"), nil, []breaking.Kind{breaking.ParamRequired}, "age"},
		{"optional", replaced(t, read, "$age: I32?", "$age: I32", "age: $age?", "age: $age"), read, nil, []breaking.Kind{breaking.ParamOptional}, "age"},
		{"retyped", replaced(t, read, "$age: I32?", "$age: I64?"), read, nil, []breaking.Kind{breaking.ParamRetyped, breaking.TextChanged}, "is now I32; it was I64"},
		{"widened", read, replaced(t, read, "$age: I32?", "$age: I64?"), nil, []breaking.Kind{breaking.TextChanged, breaking.ParamWidened}, ""},
		{"to a list", `query q($t: String) { update Person set { note: $t } where slug = "x" }`, `query q($t: [String]) { update Person set { tags: $t } where slug = "x" }`, nil,
			[]breaking.Kind{breaking.ParamRetyped}, "[String]"},
		{"enum of a param grows", `query q($k: String) { match { $p: Person { kind: $k } } return { $p.slug } }`, "", []string{"kind: enum(a, b)\n", "kind: enum(a, b, c)\n"},
			[]breaking.Kind{breaking.ParamLoosened}, "now accepts c"},
		{"enum of a param shrinks", `query q($k: String) { match { $p: Person { kind: $k } } return { $p.slug } }`, "", []string{"kind: enum(a, b)\n", "kind: enum(a)\n"},
			[]breaking.Kind{breaking.ParamTightened}, "no longer accepts b"},
		{"enum becomes a string", `query q($k: String) { match { $p: Person { kind: $k } } return { $p.slug } }`, "", []string{"kind: enum(a, b)\n", "kind: String\n"},
			[]breaking.Kind{breaking.ParamWidened}, ""},
		{"string becomes an enum", `query q($k: String) { match { $p: Person { name: $k } } return { $p.slug } }`, `query q($k: String) { match { $p: Person { kind: $k } } return { $p.slug } }`, nil,
			[]breaking.Kind{breaking.ParamRetyped}, "enum(a, b)"},
		{"range shrinks", read, "", []string{"0..150", "0..99"}, []breaking.Kind{breaking.ParamTightened}, "maximum of the parameter age is now 99; it was 150"},
		{"range grows", read, "", []string{"0..150", "-1..150"}, []breaking.Kind{breaking.ParamLoosened}, "minimum"},
		{"range gone", `query q($a: F64) { match { $p: Person $p.age = $a } return { $p.slug } }`, "", []string{"@range(age, 0..150)", ""},
			[]breaking.Kind{breaking.ParamLoosened, breaking.ParamLoosened}, "minimum"},
		{"range there", `query q($a: F64) { match { $p: Person $p.big = $a } return { $p.slug } }`, `query q($a: F64) { match { $p: Person $p.age = $a } return { $p.slug } }`, nil,
			[]breaking.Kind{breaking.ParamTightened, breaking.ParamTightened}, "minimum"},
		{"widened into a range", `query q($a: I32) { match { $p: Person $p.big = $a } return { $p.slug } }`, `query q($a: F64) { match { $p: Person $p.age = $a } return { $p.slug } }`, nil,
			[]breaking.Kind{breaking.ParamTightened, breaking.ParamTightened, breaking.ParamWidened}, "minimum of the parameter a is now 0; it was -2147483648"},
		{"pattern there", `query q($n: String) { match { $p: Person { note: $n } } return { $p.slug } }`, `query q($n: String) { match { $p: Person { name: $n } } return { $p.slug } }`, nil,
			[]breaking.Kind{breaking.ParamTightened}, "must now match ^[a-z]+$"},
		{"pattern gone", `query q($n: String) { match { $p: Person { name: $n } } return { $p.slug } }`, `query q($n: String) { match { $p: Person { note: $n } } return { $p.slug } }`, nil,
			[]breaking.Kind{breaking.ParamLoosened}, "no longer has to match"},

		{"node became nullable", ownsPet("$p owns $x"), ownsPet("optional { $p owns $x }"), nil, []breaking.Kind{breaking.ColumnNullable, breaking.ColumnNullable}, "the column pet may now be null"},
		{"node is never null", ownsPet("optional { $p owns $x }"), ownsPet("$p owns $x"), nil, []breaking.Kind{breaking.ColumnNotNullable, breaking.ColumnNotNullable}, "the column pet is now never null"},
		{"own range shrinks", ranged("1..100"), ranged("1..50"), nil, []breaking.Kind{breaking.ParamTightened}, "maximum of the parameter n is now 50; it was 100"},
		{"own range grows", ranged("1..50"), ranged("..50"), nil, []breaking.Kind{breaking.ParamLoosened}, "minimum"},
		{"own range of 64 bits shrinks", `query q($b: I64 @range(0..9007199254740993)) { match { $p: Person { big: $b } } return { $p.slug } }`,
			`query q($b: I64 @range(0..9007199254740992)) { match { $p: Person { big: $b } } return { $p.slug } }`, nil,
			[]breaking.Kind{breaking.ParamTightened, breaking.TextChanged}, "maximum of the parameter b is now 9007199254740992"},
		{"own range of a list shrinks", `query q($b: [I32] @range(0..9)) { match { $p: Person } return { $p.slug, $b as b } }`,
			`query q($b: [I32] @range(1..9)) { match { $p: Person } return { $p.slug, $b as b } }`, nil, []breaking.Kind{breaking.ParamTightened}, "minimum of the parameter b is now 1"},
		{"own check there", checked(""), checked(`@check("^a")`), nil, []breaking.Kind{breaking.ParamTightened}, "must now match ^a"},
		{"own check that schemas cannot have", checked(`@check("(?i)^a")`), checked(`@check("(?i)^b")`), nil, []breaking.Kind{breaking.ParamTightened}, "must now match (?i)^b"},
		{"own check gone", checked(`@check("^a")`), checked(""), nil, []breaking.Kind{breaking.ParamLoosened}, "no longer has to match ^a"},
		{"default gone", checked(`@default("ann")`), checked(""), nil, []breaking.Kind{breaking.DefaultRemoved, breaking.ParamRequired}, `no longer has the default "ann"`},
		{"default changed", checked(`@default("ann")`), checked(`@default("bob")`), nil, []breaking.Kind{breaking.DefaultChanged}, `is now "bob"; it was "ann"`},
		{"default there", checked(""), checked(`@default("ann")`), nil, []breaking.Kind{breaking.ParamOptional}, "optional"},
		{"default of an optional parameter", `query q($n: String?) { match { $p: Person { note: $n? } } return { $p.slug } }`,
			`query q($n: String @default("x")) { match { $p: Person { note: $n } } return { $p.slug } }`, nil, []breaking.Kind{breaking.DefaultChanged}, `now has the default "x"`},
		{"node of a parameter", `query q($n: Person @description("Who.")) { match { $p: Person $p = $n } return { $p.slug } }`,
			`query q($n: Pet @description("Who.")) { match { $p: Pet $p = $n } return { $p.slug } }`, nil, []breaking.Kind{breaking.ParamRetyped}, "the id of a node of the type Pet"},
		{"question", read, replaced(t, read, `@description`, `@question("Who is it?") @description`), nil, []breaking.Kind{breaking.TextChanged}, "questions"},

		{"column added", read, replaced(t, read, "$p.age as age", "$p.age as age, $p.big as big"), nil, []breaking.Kind{breaking.ColumnAdded}, "big"},
		{"column removed", read, replaced(t, read, ", $p.age as age", ""), nil, []breaking.Kind{breaking.ColumnRemoved}, "age"},
		{"column retyped", read, replaced(t, read, "$p.age as age", "$p.slug as age"), nil, []breaking.Kind{breaking.ColumnRetyped}, "is now String; it was I32"},
		{"column nullable", read, replaced(t, read, "$p.name as name", "$p.note as name"), nil, []breaking.Kind{breaking.ColumnNullable}, "name may now be null"},
		{"column not nullable", read, replaced(t, read, "$p.note as note", "$p.name as note"), nil, []breaking.Kind{breaking.ColumnNotNullable}, "note"},
		{"enum of a column grows", read, "", []string{"kind: enum(a, b)\n", "kind: enum(a, b, c)\n"}, []breaking.Kind{breaking.EnumValueAdded}, "kind may now be c"},
		{"enum of a column shrinks", read, "", []string{"kind: enum(a, b)\n", "kind: enum(b)\n"}, []breaking.Kind{breaking.EnumValueRemoved}, "kind is no longer a"},
		{"column to a node", replaced(t, read, "$p.age as age", "$p.age as p"), replaced(t, read, "$p.age as age", "$p"), nil, []breaking.Kind{breaking.ColumnRetyped}, "is now the node Person; it was of type I32"},
		{"a type of an interface added", `query q() { match { $n: Slugged } return { $n } }`, "", []string{"node Pet {", "node Pet implements Slugged {"}, []breaking.Kind{breaking.TypeAdded}, "Pet now implements Slugged"},
		{"a type of an interface removed", `query q() { match { $n: Slugged } return { $n } }`, "", []string{"node Pet {", "node Pet implements Slugged {", "Person implements Slugged {", "Person {"}, []breaking.Kind{breaking.TypeAdded, breaking.TypeRemoved}, "Pet now implements Slugged"},
		{"a type of a parameter's interface added", node("Slugged"), "", []string{"node Pet {", "node Pet implements Slugged {"}, []breaking.Kind{breaking.ParamLoosened, breaking.TypeAdded}, "the parameter who now accepts a node of the type Pet"},
		{"a type of a parameter's interface removed", node("Slugged"), "", []string{"node Pet {", "node Pet implements Slugged {", "Person implements Slugged {", "Person implements Other {"}, []breaking.Kind{breaking.ParamTightened, breaking.ParamLoosened, breaking.TypeAdded, breaking.TypeRemoved}, "the parameter who no longer accepts a node of the type Person"},
		{"an interface to an id", node("Slugged"), node("Person"), nil, []breaking.Kind{breaking.ParamRetyped, breaking.TextChanged}, "the type of the parameter who is now String; it was Slugged"},
		{"an end of an edge to an interface", ends, "", []string{"node Pet {", "node Pet implements Slugged {", "Person -> Pet", "Person -> Slugged"}, []breaking.Kind{breaking.ColumnRetyped}, "the column to is now a record; it was of type String"},
		{"inside a node", `query q() { match { $p: Pet } return { $p } }`, "", []string{"name: String  kind", "name: String?  kind"}, []breaking.Kind{breaking.ColumnNullable}, "p.name"},
		{"member of a node gone", `query q() { match { $p: Pet } return { $p } }`, "", []string{"name: String  kind", "kind"}, []breaking.Kind{breaking.ColumnRemoved}, "p.name"},
	}
	seen := map[breaking.Kind]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after := tt.after
			if after == "" {
				after = tt.before
			}
			got := breaking.Compare(contract(t, schema, tt.before), contract(t, replaced(t, schema, tt.toSchema...), after))
			var kinds []breaking.Kind
			for i, c := range got {
				kinds = append(kinds, c.Kind)
				seen[c.Kind] = true
				if c.Breaking != c.Kind.Breaking() || c.File != "a.gq" || c.Query == "" || c.Message == "" {
					t.Errorf("found %+v", c)
				}
				if i > 0 && c.Breaking && !got[i-1].Breaking {
					t.Error("a breaking change comes after a safe one")
				}
			}
			if !slices.Equal(kinds, tt.want) {
				t.Errorf("found %+v, expected %v", got, tt.want)
			} else if len(got) > 0 && !strings.Contains(got[0].Message, tt.text) {
				t.Errorf("found %q, expected %q in it", got[0].Message, tt.text)
			}
		})
	}
	for _, k := range slices.Concat(envelopeKinds(t), modeKinds(t)) {
		seen[k] = true
	}
	for _, d := range breaking.Kinds {
		if !seen[d.Kind] {
			t.Errorf("no test has a change of the kind %s", d.Kind)
		}
		if d.Why == "" {
			t.Errorf("%s does not say why", d.Kind)
		}
	}
}

// modeKinds compares contracts with fewer exposed queries than the threshold, and contracts that
// reach it. Below the threshold each query is a tool. If the threshold is reached, the meta tools
// replace these tools.
func modeKinds(t *testing.T) []breaking.Kind {
	t.Helper()
	one, two := contract(t, schema, read), contract(t, schema, read+write)
	hidden := contract(t, schema, read+replaced(t, write, "@description", "@mcp(expose: false) @description"))
	none := contract(t, schema, replaced(t, read, "@description", "@mcp(expose: false) @description"))
	var kinds []breaking.Kind
	for _, tt := range []struct {
		name          string
		before, after *codegen.Contract
		was, is       int
		want          breaking.Kind
	}{
		{"below", one, two, 3, 3, ""},
		{"above", one, two, 1, 1, ""},
		{"a query more", one, two, 2, 2, breaking.ToolsPaired},
		{"a query less", two, one, 2, 2, breaking.ToolsUnpaired},
		{"one that is hidden", one, hidden, 2, 2, ""},
		{"another threshold", two, two, 3, 2, breaking.ToolsPaired},
		{"none before", none, two, 2, 2, ""},
		{"none after", two, none, 2, 2, ""},
	} {
		var got breaking.Kind
		for _, c := range breaking.CompareMode(tt.before, tt.after, tt.was, tt.is, "cluster.yaml") {
			if got = c.Kind; !c.Breaking || c.File != "cluster.yaml" || c.Message == "" {
				t.Errorf("%s: found %+v", tt.name, c)
			}
			kinds = append(kinds, c.Kind)
		}
		if got != tt.want {
			t.Errorf("%s: found %q, expected %q", tt.name, got, tt.want)
		}
	}
	return kinds
}

// envelopeKinds compares contracts that differ outside parameters and columns. Users cannot cause
// such differences with their sources.
func envelopeKinds(t *testing.T) []breaking.Kind {
	t.Helper()
	was, is := contract(t, schema, read), contract(t, schema, read)
	edit := func(raw *json.RawMessage, from, to string) {
		text := strings.Replace(string(*raw), from, to, 1)
		if text == string(*raw) {
			t.Fatalf("no %s in %s", from, text)
		}
		*raw = json.RawMessage(text)
	}
	edit(&is.Queries[0].InputSchema, `"branch":`, `"twig":`)
	edit(&is.Queries[0].OutputSchema, `"row_count":`, `"rows_counted":`)
	var kinds []breaking.Kind
	for _, c := range breaking.Compare(was, is) {
		kinds = append(kinds, c.Kind)
	}
	want := []breaking.Kind{breaking.ArgumentRemoved, breaking.ResultRemoved, breaking.ArgumentAdded, breaking.ResultAdded}
	if !slices.Equal(kinds, want) {
		t.Errorf("found %v, expected %v", kinds, want)
	}
	return kinds
}

// FuzzCompare compares arbitrary contracts. Compare must not panic on any of them.
func FuzzCompare(f *testing.F) {
	f.Add([]byte(`{"format":1,"queries":[{"name":"a","params":[{"name":"p","type":"enum(a, b)"}],"columns":[{"name":"c","type":"[I32]?"}]}]}`),
		[]byte(`{"format":1,"queries":[{"name":"a","params":[{"name":"p","type":"["}],"columns":[{"name":"c","node":"N"}]}],"frames":{"read_input":{"properties":{"params":null}}}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var was, is codegen.Contract
		if json.Unmarshal(a, &was) != nil || json.Unmarshal(b, &is) != nil {
			return
		}
		for _, c := range breaking.Compare(&was, &is) {
			if c.Message == "" || c.Breaking != c.Kind.Breaking() {
				t.Errorf("found %+v", c)
			}
		}
	})
}
