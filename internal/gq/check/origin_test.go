package check

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestOrigin uses origin() where an expression may stand, and where it may not. The code P stands for a fault of the parser.
func TestOrigin(t *testing.T) {
	s := ParseSchema(t, ExampleSchema)
	for _, tt := range []struct {
		text string
		code diag.Code
		help string // of the fault; empty for any
	}{
		{match("$p: Person origin($p).actor = \"ada\" origin($p).at < now()", "$p"), "", ""},
		{match("$p: Person optional { $p knows $q } origin($q).tool is null", "$p, origin($q).source, origin($p).made_by as m"), "", ""},
		{match("$p $e:knows $q origin($e).proposal starts_with \"0\"", "count(origin($e).actor) as n, max(origin($q).made_at) as last"), "", ""},
		{match("$p: Person exists { $p knows $q origin($q).actor = origin($p).actor }", "$p"), "", ""},
		{"query q() { match { $p: Person } return { $p.name } order { origin($p).at desc } limit 3 }", "", ""},

		{match("$p: Person origin($p) = \"ada\"", "$p"), Unbound, "write one of origin($p).actor, .at, .proposal, .source, .tool, .made_by, .made_at"},
		{match("$p: Person origin($p).actr = \"ada\"", "$p"), Unbound, "did you mean actor?"},
		{match("$p: Person origin($x).actor = \"ada\"", "$p"), Unbound, ""},
		{match("$p: Person origin($q).actor = \"ada\"", "$p"), Unbound, "bind a node or an edge in match"},
		{match("$p: Person origin($p).actor = 3", "$p"), Incomparable, ""},
		{match("$p $w:knows{1,3} $q origin($w).actor = \"ada\"", "$p"), EdgeBindingMisuse, "bind an edge or a node of the walk"},
		{"query q() { $p = insert Person { name: \"x\" } return { origin($p).actor as a } }", BadReturn, "read it with a query after the mutation"},
		{match("$p: Person origin(\"x\").actor = \"ada\"", "$p"), "P", ""},
		{match("$p: Person origin($p, $p).actor = \"ada\"", "$p"), "P", ""},
		{match("$p: Person { name: origin($p).actor }", "$p"), "P", ""},
		{"query q() { match { $p: Person } insert Person { name: origin($p).actor } }", "P", ""},
		{"query q() { update Person set { age: 1 } where name = origin($p).actor }", "P", ""},
	} {
		file, faults := syntax.ParseQueries("x.gq", tt.text)
		if faults.HasErrors() || len(file.Queries) == 0 {
			if tt.code != "P" {
				t.Errorf("%s: %v", tt.text, faults)
			}
			continue
		}
		_, _, faults = QueryWithin(nil, s, nil, file.Queries[0])
		switch {
		case tt.code == "" && faults.HasErrors():
			t.Errorf("%s: %v", tt.text, faults)
		case tt.code != "" && (len(faults) == 0 || faults[0].Code != tt.code || tt.help != "" && faults[0].Help != tt.help):
			t.Errorf("%s: %v, want %s %s", tt.text, faults, tt.code, tt.help)
		}
	}
}
