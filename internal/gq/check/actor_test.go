package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestActor uses actor() in each place where a parameter may stand, and where none may. A test without a code has no fault, and its
// plan has the parameters in `want`.
func TestActor(t *testing.T) {
	s := ParseSchema(t, ExampleSchema)
	claims := plan.Claims{
		"region": value.Of(value.String).Optional(), "level": value.Of(value.I32).Optional(), "share": value.Of(value.F64).Optional(),
		"teams": {Kind: value.String, List: true, Nullable: true},
	}
	for _, tt := range []struct {
		text string
		want string // the names of the parameters of the plan
		code diag.Code
		help string // of the fault
	}{
		{match("$p: Person { name: actor().id }", "$p"), "actor().id", "", ""},
		{match("$p: Person { age: actor().level? }", "$p"), "actor().level", "", ""},
		{match("$p: Person { tags: actor().region }", "$p"), "actor().region", "", ""},
		{match("$p: Person $p.name = actor().id $p.name != actor().id", "$p"), "actor().id", "", ""},
		{match("$p: Person $p.name in actor().groups actor().id in $p.tags", "$p"), "actor().groups actor().id", "", ""},
		{match("$p: Person $p.id = actor().id", "$p"), "actor().id", "", ""},
		{match("$p: Person $p.name starts_with actor().region?", "$p"), "actor().region", "", ""},
		{match("$p: Person $p.name contains lower(actor().id)", "$p"), "actor().id", "", ""},
		{match("$p: Person $p.name matches actor().region", "$p"), "actor().region", "", ""},
		{match("$p: Person $p.age + actor().level > 3", "$p"), "actor().level", "", ""},
		{match("$p: Person actor().level is null", "$p"), "actor().level", "", ""},
		{match("$p: Person search($p.name, actor().id) fuzzy($p.name, actor().region, actor().level)", "$p"), "actor().id actor().region actor().level", "", ""},
		{match("$p: Person not { $p knows $q $q.name = actor().id }", "$p"), "actor().id", "", ""},
		{match("$p: Person exists { $p knows $q any { $q.name = actor().id $q.age < actor().level } }", "$p"), "actor().id actor().level", "", ""},
		{match("$p: Person optional { $p knows $q $q.name in actor().teams }", "$p, $q"), "actor().teams", "", ""},
		{match("$p: Person", "$p.name, actor().id as me, if($p.name = actor().id, 1, 2) as own, count { $p knows $q $q.name = actor().id } as n"), "actor().id", "", ""},
		{"query q($n: String) { match { $p: Person { name: $n } } return { $p.name as name, $p.age as age } having { name = actor().id } order { actor().region } limit 3 }", "n actor().id actor().region", "", ""},
		{"query q() { insert Person { name: actor().id, age: actor().level, tags: actor().groups, score: actor().share } }", "actor().id actor().level actor().groups actor().share", "", ""},
		{"query q() { upsert Person { name: actor().id, age: age + actor().level } }", "actor().id actor().level", "", ""},
		{"query q() { update Person set { age: actor().level } where name = actor().id }", "actor().level actor().id", "", ""},
		{"query q() { delete Person where name in actor().groups }", "actor().groups", "", ""},
		{"query q() { insert Knows { from: actor().id, to: Person(actor().region) } }", "actor().id actor().region", "", ""},
		{"query q($all: [String]) { for $x in $all { insert Person { name: $x, tags: actor().groups } } }", "all actor().groups", "", ""},
		{"query q() { match { $p: Person $p.name = actor().id } insert Person { name: actor().region } }", "", "P", ""},

		{match("$p: Person $p.name = actor()", "$p"), "", BadActor, "write one of actor().id, actor().groups, actor().level, actor().region, actor().share, actor().teams"},
		{match("$p: Person $p.name = actor().regoin", "$p"), "", BadActor, "did you mean actor().region?"},
		{match("$p: Person $p.name = actor().salary", "$p"), "", BadActor, "its members are actor().id, actor().groups, actor().level, actor().region, actor().share, actor().teams; the configuration maps further claims of a token"},
		{match("$p: Person $p.age = actor().id", "$p"), "", Incomparable, "anything"},
		{match("$p: Person $p.name = actor().groups", "$p"), "", Incomparable, "anything"},
		{match("$p: Person $p.name in actor().id", "$p"), "", Incomparable, "anything"},
		{match("$p: Person { name: actor().level }", "$p"), "", BadValue, "anything"},
		{match("$p: Person $p.name = actor().id?", "$p"), "", Incomparable, "anything"},
		{match("$p: Person $p.name = $actor", "$p"), "", Unbound, "anything"},
		{"query q() { match { $p: Person } return { $p.name } limit actor().level }", "", "P", ""},
		{"query q($n: String @default(actor().id)) { match { $p: Person { name: $n } } return { $p } }", "", "P", ""},
		{match("$p: Person $p.name in [actor().id]", "$p"), "", "P", ""},
		{`query q() @must_be_empty("Nobody is me.") { match { $p: Person { name: actor().id } } return { $p } }`, "", BadCheck, "write the condition for everybody, or remove @must_be_empty"},
		{"query q() { update Person set { photo: actor().id } where name = \"x\" }", "", BadValue, "anything"},
	} {
		file, faults := syntax.ParseQueries("x.gq", tt.text)
		if faults.HasErrors() || len(file.Queries) == 0 {
			if tt.code != "P" {
				t.Errorf("%s: %v", tt.text, faults)
			}
			continue
		}
		p, info, faults := QueryWithin(nil, s, claims, file.Queries[0])
		if tt.code != "" {
			if len(faults) == 0 || faults[0].Code != tt.code || tt.help != "anything" && faults[0].Help != tt.help {
				t.Errorf("%s: %v, want %s %s", tt.text, faults, tt.code, tt.help)
			}
			continue
		}
		if faults.HasErrors() {
			t.Errorf("%s: %v", tt.text, faults)
			continue
		}
		var names []string
		for _, prm := range p.Params {
			if prm.Name != "q" { // match declares it
				names = append(names, prm.Name)
			}
		}
		if got := strings.Join(names, " "); got != tt.want || len(info.Params) != len(p.Params) {
			t.Errorf("%s: the parameters are %s, with %d places", tt.text, got, len(info.Params))
		}
		if slices.ContainsFunc(p.Declared(), func(p plan.Param) bool { return p.Caller != "" }) || slices.ContainsFunc(p.OfCaller(), func(p plan.Param) bool { return p.Caller == "" }) {
			t.Errorf("%s: the parameters of actor() do not come last: %v", tt.text, p.Params)
		}
	}
}
