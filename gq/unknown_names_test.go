package gq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// TestUnknownNames checks that an error about a name that is near no other lists the names that fit the place.
func TestUnknownNames(t *testing.T) {
	s, faults := gq.CompileSchema(gq.Source{Name: "a.pg", Text: "node P { name: String @key  value: I32?  kind: enum(alpha, beta)? }\nnode Team { slug: String @key }\nedge Knows: P -> P { since: Date? }\nedge In: P -> Team"})
	if faults != nil {
		t.Fatal(faults)
	}
	for body, want := range map[string]string{
		`match { $p: Zebra } return { $p.name }`:                "there are P, Team",
		`match { $p: P { zz: 1 } } return { $p.name }`:          "there are name, value, kind",
		`match { $p: P } return { $p.zzz }`:                     "there are name, value, kind",
		`match { $p: P  $p zebra $q } return { $p.name }`:       "there are knows, in",
		`match { $t: Team  $p zebra $t } return { $p.name }`:    "write in, the only edge that fits here",
		`match { $t: Team  $t zebra $p } return { $t.slug }`:    "write in, the only edge that fits here",
		`match { $t: Team  $p knws $t } return { $t.slug }`:     "did you mean knows?",
		`insert Zebra { a: 1 }`:                                 "there are P, Team, Knows, In",
		`insert P { name: "a", zzz: 1 }`:                        "there are name, value, kind",
		`delete P where zzz = 1`:                                "there are name, value, kind",
		`update Knows set { zzz: 1 } where from = "a"`:          "write since, which is the only one",
		`match { $t: Team { zzz: 1 } } return { $t.slug }`:      "write slug, which is the only one",
		`match { $p: P { nmae: "a" } } return { $p.name }`:      "did you mean name?",
		`match { $p: P { kind: "delta9" } } return { $p.name }`: "write one of the values of the enum",
		`match { $p: P { kind: "alpah" } } return { $p.name }`:  "did you mean alpha?",
	} {
		_, faults := gq.CompileQueries(s, gq.Source{Name: "a.gq", Text: "query q() { " + body + " }"})
		if len(faults) == 0 || !strings.Contains(faults[0].Help, want) {
			t.Errorf("%s: %v, want the help %q", body, faults, want)
		}
	}
	// An undeclared parameter is declared with the type of the value that it stands for.
	for body, want := range map[string]string{
		`match { $p: P { name: $x } } return { $p.value }`: "($x: String)",
		`match { $p: P { value: $x } } return { $p.name }`: "($x: I32)",
		`match { $p: P { kind: $x } } return { $p.name }`:  "($x: String)",
		`match { $p: P } return { $p.name } limit $x`:      "($x: I32 @range(1..100) @default(20))",
		`insert P { name: "a", value: $x }`:                "($x: I32)",
		`update P set { value: $x } where name = "a"`:      "($x: I32)",
		`delete P where value > $x`:                        "($x: I32)",
		`update Knows set { since: $x } where from = "a"`:  "($x: Date)",
		`delete Knows where from = $x`:                     "($x: String)",
		`update P set { value: 1 } where value in $x`:      "($x: [I32])",
		`match { $p: P { name: $p2 } } return { $p.name }`: "($p2: String)",
	} {
		_, faults := gq.CompileQueries(s, gq.Source{Name: "a.gq", Text: "query q() { " + body + " }"})
		if len(faults) == 0 || !strings.Contains(faults[0].Help, want) {
			t.Errorf("%s: %v, want the help %q", body, faults, want)
			continue
		}
		_, after, _ := strings.Cut(faults[0].Help, "(")
		declared := "query q(" + after + " { " + body + " }"
		if _, faults := gq.CompileQueries(s, gq.Source{Name: "a.gq", Text: declared}); len(faults) > 0 {
			t.Errorf("%s: %v", declared, faults)
		}
	}
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, "node T%02dxxxx { a: String @key }\n", i)
	}
	if s, faults = gq.CompileSchema(gq.Source{Name: "b.pg", Text: many.String()}); faults != nil {
		t.Fatal(faults)
	}
	_, faults = gq.CompileQueries(s, gq.Source{Name: "b.gq", Text: "query q() { match { $p: Zebra } return { $p.a } }"})
	if len(faults) != 1 || !strings.Contains(faults[0].Help, "T00xxxx") || !strings.HasSuffix(faults[0].Help, "and 8 more") {
		t.Errorf("many types: %v", faults)
	}
}
