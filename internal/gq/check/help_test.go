package check

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestForeignNames checks the help for keywords of other languages. Our grammar parses such
// keywords as names.
func TestForeignNames(t *testing.T) {
	s := ParseSchema(t, ExampleSchema)
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

// TestInterfaceHelp checks the help in the faults of interfaces. A test without a code has no fault.
func TestInterfaceHelp(t *testing.T) {
	const source = "interface Named { name: String } interface Idle { x: I32 } interface Many { name: String } interface Other { name: String }\n" +
		"node A implements Named, Many { } node B implements Named, Many { } node C implements Many { } node D implements Many { } node E implements Many { } node F implements Many { } node G implements Other { }\n" +
		"edge Likes: C -> C edge Loves: A -> D edge Hates: A -> D edge Fears: D -> E"
	s := ParseSchema(t, source)
	tests := []struct {
		text, help string
		code       diag.Code
	}{
		{match("$n: Idle", "$n"), "bind the variable to a node type", UnknownNode},
		{match("$n: Naned", "$n"), "did you mean Named?", UnknownNode},
		{match("$n: Named", "$n.nam"), "did you mean name?", Unbound},
		{match("$n: Named { nam: \"x\" }", "$n"), "did you mean name?", UnknownInline},
		{match("$n: Named $n: Many", "$n"), "bind another variable and compare the two: $n2: Many  $n2 = $n", WrongEndpoint},
		{match("$n: Named $n: A", "$n"), "bind another variable and compare the two: $n2: A  $n2 = $n", WrongEndpoint},
		{match("$n: Named $n likes $c", "$n"), "bind a variable of type C; the types that implement Named are A, B", WrongEndpoint},
		{match("$n: Many $n likes|loves{1,3} $c $c: C", "$n"), "bind it as one of these types, as in $n: C", WrongEndpoint},
		{match("$n: Named $n loves|hates $d", "$n"), "", ""},
		{match("$n: Many $e: E $x loves $n $x fears $e", "$x"), "", ""},
		{match("$n: Many $e: E $x fears $e $x loves $n", "$x"), "", ""},
		{match("$n: Named $c: C $n = $c", "$n"), "", Incomparable},
		{match("$n: Named $m: Other $n = $m", "$n"), "", Incomparable},
		{match("$n: Named $n < $n", "$n"), "compare a property or the id of the node", Incomparable},
		{match("$n: Many search($n.name, \"x\")", "$n"), "bind a variable of one type that implements Many, and write a query for each: A, B, C, D, E, …", BadSearch},
		{"query q($a: A) { match { $n: Named $n = $a } return { $n } }", "", ""},
		{"query q($a: A) { match { $n: Named $n.id = $a } return { $n } }", "compare the node, with its type: $n = $a", Incomparable},
		{"query q($a: C) { match { $n: Named $n = $a } return { $n } }", "", Incomparable},
		{"query q($a: A?) { match { $n: Named $n != $a? } return { if($n = $a, 1, 2) as x, count { $m: A $m = $n } as y } }", "", ""},
		{"query q($a: Named) { match { $n: Named $n = $a } return { $n } }", "", ""},
		{"query q($a: Named?) { match { $n: A any { $a is null $a != $n } } return { $n } }", "", ""},
		{"query q($a: Named?) { match { $n: Many $n = $a? } return { if($n != $a, 1, 2) as x, count { $m: A $m = $a } as y } }", "", ""},
		{"query q($a: Idle) { match { $n: Named } return { $n } }", "write implements Idle after the name of a node type in the schema", UnknownNode},
		{"query q($a: Naned) { match { $n: Named } return { $n } }", "did you mean Named?", syntax.UnknownScalar},
		{"query q($a: Named @default(\"x\")) { match { $n: Named $n = $a } return { $n } }", "remove it; to let a call leave the node out, write ? after the type", BadParam},
		{"query q($a: Named @check(\"x\")) { match { $n: Named $n = $a } return { $n } }", "", BadParam},
		{"query q($a: Named) { match { $c: C $c = $a } return { $c } }", "", Incomparable},
		{"query q($a: Other) { match { $n: Named $n = $a } return { $n } }", "", Incomparable},
		{"query q($a: Named) { match { $n: Named $n < $a } return { $n } }", "compare it with a node of the match: $n = $a, or with !=", Incomparable},
		{"query q($a: Named) { match { $n: Named $n.id = $a } return { $n } }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named, $b: Named) { match { $n: Named $b = $a } return { $n } }", "compare it with a node of the match: $n = $b", Incomparable},
		{"query q($a: Named) { match { $n: Named } return { $n, $a as a } }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named) { match { $n: Named { name: $a } } return { $n } }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named) { match { $n: Named $n.name = $a.id } return { $n } }", "", Unbound},
		{"query q($a: Named) { match { $n: Named } return { $n } limit $a }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named) { delete Loves where from = $a }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named) { insert Loves { from: $a, to: \"x\" } }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named) { for $x in $a { delete Loves where from = $x } }", "compare it with a node of the match: $n = $a", Incomparable},
		{"query q($a: Named) { match { $n: A $n = $a } { delete Loves where from = $n } }", "", ""},
		{"query q() { match { $n: Named } { delete Loves where from = $n } }", "bind a variable of that type in the match: $n2: A  $n2 = $n", WrongEndpoint},
		{"query q() { delete Named where name = \"x\" }", "name a type that implements it: A, B", UnknownTarget},
		{"query q() { delete Idle where x = 1 }", "no node type implements it", UnknownTarget},
	}
	for _, test := range tests {
		file, faults := syntax.ParseQueries("x.gq", test.text)
		if faults != nil {
			t.Fatal(faults)
		}
		_, _, got := Query(s, file.Queries[0])
		if test.code == "" && len(got) > 0 || test.code != "" && (len(got) == 0 || got[0].Code != test.code || got[0].Help != test.help) {
			t.Errorf("%s\n%v", test.text, got)
		}
	}
}
