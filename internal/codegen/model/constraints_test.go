package model_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

const constrained = `
node A {
  slug: String @key
  size: enum(s, l)?
  n: I32?
  code: String?
  @range(n, 1..10)
  @check(code, "^x")
  @unique(code)
}
node B { text: String }
edge Of: B -> A @card(0..3) { how: enum(p, q)? @unique(src, dst) }
edge Two: B -> A @card(2..2)
edge Sole: A -> B @card(0..1)
edge Few: A -> B @card(1..2)
edge Pair: A -> B { @unique(src, dst) }
edge Back: B -> A { @unique(src, dst) }
edge Any: A -> B
edge At: A -> B @valid(since, until) { since: Date until: Date? }
edge Ring: A -> A { @unique(dst) }
edge Like: A -> A { @unique(src, dst) }
`

func TestConstraintLine(t *testing.T) {
	tests := []struct{ body, want string }{
		{`insert A { slug: $s }`, "an A with the same slug is replaced"},
		{`insert new A { slug: $s } insert Any { from: $s, to: $t }`, "the call fails if an A with the same slug exists; Any goes to an existing B"},
		{`insert new B { text: $s }`, ""},
		{`insert A { slug: $s, size: $s, n: $n, code: $s }`, "an A with the same slug is replaced; A.size is one of s, l; A.n is from 1 to 10; A.code matches /^x/; code of an A is unique"},
		{`update A set { n: $n, size: "s" } where slug = $s`, "A.n is from 1 to 10"},
		{`update A set { n: $n + 1, size: coalesce($s, "s"), code: "x" + "y" } where slug = $s`, "A.size is one of s, l; A.n is from 1 to 10"},
		{`insert B { text: $s }`, ""},
		{`insert At { from: $s, to: $t, since: $d }`, "At goes from an existing A to an existing B; At.until is after since"},
		{`insert At { from: $s, to: $t, since: date("2026-03-01") }`, "At goes from an existing A to an existing B"},
		{`update At set { until: $d } where from = $s`, "At.until is after since"},
		{`insert Of { from: $s, to: $s, how: $s }`, "Of goes from an existing B to an existing A; Of.how is one of p, q; src with dst of an Of edge is unique; a B has at most 3 Of"},
		{`insert Two { from: $s, to: $s }`, "Two goes from an existing B to an existing A; a B has 2 Two"},
		{`delete A where slug = $s`, "deleting an A also deletes its edges"},
		{`insert A { slug: $s } insert Sole { from: $s, to: $t }`, "an A with the same slug is replaced, unless it has a Sole already: then the call fails; Sole goes to an existing B; an A has at most 1 Sole"},
		{`insert Sole { from: $s, to: $t } insert A { slug: $s }`, "Sole goes from an existing A to an existing B; an A has at most 1 Sole; an A with the same slug is replaced, unless it has a Sole already: then the call fails"},
		{`delete Sole where from = $s insert A { slug: $s } insert Sole { from: $s, to: $t }`, "an A with the same slug is replaced, and so are its Sole edges; Sole goes to an existing B"},
		{`delete Sole where from = $t insert A { slug: $s } insert Sole { from: $s, to: $t }`, "an A with the same slug is replaced, unless it has a Sole already: then the call fails; Sole goes to an existing B; an A has at most 1 Sole"},
		{`insert A { slug: $s } insert Few { from: $s, to: $t }`, "an A with the same slug is replaced, unless it has more than 1 Few already: then the call fails; Few goes to an existing B; an A has 1 to 2 Few"},
		{`insert A { slug: $s } insert Pair { from: $s, to: $t }`, "an A with the same slug is replaced, unless it has a Pair to the same B already: then the call fails; Pair goes to an existing B; src with dst of a Pair edge is unique"},
		{`insert A { slug: $s } insert Back { from: $t, to: $s }`, "an A with the same slug is replaced, unless it has a Back from the same B already: then the call fails; Back goes from an existing B; src with dst of a Back edge is unique"},
		{`insert A { slug: $s } insert Any { from: $s, to: $t }`, "an A with the same slug is replaced; Any goes to an existing B"},
		{`insert A { slug: $s } insert Sole { from: $t, to: $t }`, "an A with the same slug is replaced; Sole goes from an existing A to an existing B; an A has at most 1 Sole"},
		{`insert A { slug: $s } insert Ring { from: $s, to: $s }`, "an A with the same slug is replaced, unless it has a Ring to the same A or a Ring to it already: then the call fails; dst of a Ring edge is unique"},
		{`delete Ring where from = $s insert A { slug: $s } insert Ring { from: $s, to: $s }`, "an A with the same slug is replaced, and so are its Ring edges, unless it has a Ring to it already: then the call fails; dst of a Ring edge is unique"},
		{`insert A { slug: $s } insert Like { from: $s, to: $s }`, "an A with the same slug is replaced, unless it has a Like to the same A already: then the call fails; src with dst of a Like edge is unique"},
		{`insert A { slug: "x" } insert Sole { from: "x", to: $t }`, "an A with the same slug is replaced, unless it has a Sole already: then the call fails; Sole goes to an existing B; an A has at most 1 Sole"},
	}
	for _, tt := range tests {
		pkg, diags := build(t, constrained, gq.Source{Name: "a.gq", Text: `query q($s: String, $t: String, $n: I32, $d: Date) @description("D.") { ` + tt.body + " }"})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		want := "D."
		if tt.want != "" {
			want += "\n\nConstraints: " + tt.want + "."
		}
		if got := pkg.Queries()[0].Tool.Description; got != want {
			t.Errorf("%s: found %q, expected %q", tt.body, got, want)
		}
	}
}

// TestConstraintLineIsTrue runs mutations again and again with the same arguments. If the
// constraints say that a call can fail, at least one call must fail; otherwise none may fail.
func TestConstraintLineIsTrue(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: constrained})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`insert A { slug: $s }`,
		`insert new A { slug: $s }`,
		`insert A { slug: $s } insert Sole { from: $s, to: $t }`,
		`insert Sole { from: $s, to: $t } insert A { slug: $s }`,
		`delete Sole where from = $s insert A { slug: $s } insert Sole { from: $s, to: $t }`,
		`insert A { slug: $s } delete Sole where from = $s insert Sole { from: $s, to: $t }`,
		`delete Sole where from = $t insert A { slug: $s } insert Sole { from: $s, to: $t }`,
		`insert A { slug: $s } insert Few { from: $s, to: $t }`,
		`insert A { slug: $s } insert Pair { from: $s, to: $t }`,
		`delete Pair where from = $s insert A { slug: $s } insert Pair { from: $s, to: $t }`,
		`insert A { slug: $s } insert Back { from: $t, to: $s }`,
		`insert A { slug: $s } insert Any { from: $s, to: $t }`,
		`insert A { slug: "s" } insert Sole { from: "s", to: $t }`,
	} {
		pkg, diags := build(t, constrained, gq.Source{Name: "a.gq", Text: `query q($s: String, $t: String) { ` + body + " }"})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		g := naive.New(constrained, schema, naive.Sound)
		const nodes = `{"type":"A","data":{"slug":"s"}}` + "\n" + `{"type":"B","data":{"id":"t","text":"x"}}`
		if _, err := g.Load(t.Context(), strings.NewReader(nodes), engine.LoadOptions{Mode: engine.Append}); err != nil {
			t.Fatal(err)
		}
		fails := false
		for range 4 {
			_, err := g.Mutate(t.Context(), pkg.Queries()[0].Plan, engine.Args{value.OfString("s"), value.OfString("t")}, engine.WriteOptions{})
			fails = fails || err != nil
		}
		line := pkg.Queries()[0].Tool.Description
		if says := strings.Contains(line, "the call fails"); says != fails {
			t.Errorf("%s: a call fails: %t, and the description is %q", body, fails, line)
		}
		g.Close()
	}
}
