package check

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestForeignNames checks the help for keywords of other languages. Our grammar parses such
// keywords as names.
func TestForeignNames(t *testing.T) {
	tree, faults := syntax.ParseSchema("x.pg", ExampleSchema)
	s, more := resolve.Schema(tree)
	if faults != nil || more != nil {
		t.Fatal(faults, more)
	}
	const ordinary = `write "ada" for a text, $ada for a parameter or $p.ada for a property`
	tests := []struct{ text, help string }{
		{match("$p: Person $p.name = ada", "$p"), ordinary},
		{match("$p: Person $p.name = null", "$p"), noNull},
		{match("$p: Person $p.name != nil", "$p"), noNull},
		{match("$p: Person", "$p.name limit 10"), foreignNames["limit"]},
		{match("$p: Person", "distinct $p.name"), foreignNames["distinct"]},
		{match("$p: Person", "$p.name desc"), foreignNames["desc"]},
		{match("$p: Person", "$p.age in [1] as x"), comparisonForm},
		{match("$p: Person", "not $p.age as x"), foreignNames["not"]},
		{match("$p: Person", "p.name as x"), "a variable starts with $: $p.name"},
		{match("$p: Person", "count(p.name) as x"), "a variable starts with $: $p.name"},
		{match("$p: Person q.age > 3", "$p"), "a variable starts with $: $q.age"},
		{match("$p: Person", "count { $p knows $q q.age > 3 } as x"), "a variable starts with $: $q.age"},
		{match("$p: Person", "first { $p knows $q return { $q.name as name } } as one, one.nam as x"), "did you mean name?"},
	}
	for _, test := range tests {
		file, faults := syntax.ParseQueries("x.gq", test.text)
		if faults != nil {
			t.Fatal(faults)
		}
		_, _, got := Query(s, file.Queries[0])
		if len(got) == 0 || got[0].Code != Unbound || got[0].Help != test.help {
			t.Errorf("%s\n%v", test.text, got)
		}
	}
}

// TestInterfaceHelp checks the help for an interface in the place of a type.
func TestInterfaceHelp(t *testing.T) {
	const source = "interface Named { name: String } interface Idle { x: I32 } interface Many { name: String }\n" +
		"node A implements Named, Many { } node B implements Named, Many { } node C implements Many { } node D implements Many { } node E implements Many { } node F implements Many { }"
	tree, faults := syntax.ParseSchema("x.pg", source)
	s, more := resolve.Schema(tree)
	if faults != nil || more != nil {
		t.Fatal(faults, more)
	}
	tests := []struct {
		text, help string
		code       diag.Code
	}{
		{match("$n: Named", "$n"), "write a query for each type that implements it: A, B", UnknownNode},
		{match("$n: Many", "$n"), "write a query for each type that implements it: A, B, C, D, E, …", UnknownNode},
		{match("$n: Idle", "$n"), "no node type implements it", UnknownNode},
		{"query q() { delete Named where name = \"x\" }", "name a type that implements it: A, B", UnknownTarget},
		{"query q() { delete Idle where x = 1 }", "no node type implements it", UnknownTarget},
	}
	for _, test := range tests {
		file, faults := syntax.ParseQueries("x.gq", test.text)
		if faults != nil {
			t.Fatal(faults)
		}
		_, _, got := Query(s, file.Queries[0])
		if len(got) == 0 || got[0].Code != test.code || got[0].Help != test.help {
			t.Errorf("%s\n%v", test.text, got)
		}
	}
}
