package check

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestForeignNames checks the help for keywords of other languages, which our grammar parses as
// names.
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
