package gq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestCodeExamples compiles the example of every documented code. It must yield that code and no
// other diagnostic.
func TestCodeExamples(t *testing.T) {
	s, faults := gq.CompileSchema(gq.Source{Name: "example.pg", Text: check.ExampleSchema})
	if faults != nil {
		t.Fatal(faults)
	}
	seen := map[diag.Code]bool{}
	for _, entries := range [][]diag.Entry{syntax.Codes, resolve.Codes, check.Codes} {
		for _, e := range entries {
			t.Run(string(e.Code), func(t *testing.T) {
				if seen[e.Code] {
					t.Fatal("documented twice")
				}
				seen[e.Code] = true
				if e.Title == "" || e.Explanation == "" {
					t.Error("no title or explanation")
				}
				var faults diag.List
				if e.Code[0] == 'S' {
					_, faults = gq.CompileSchema(gq.Source{Name: "x.pg", Text: e.Example})
				} else {
					_, faults = gq.CompileQueries(s, gq.Source{Name: "x.gq", Text: e.Example})
				}
				if len(faults) == 0 {
					t.Error("the example is fine")
				}
				for _, d := range faults {
					if d.Code != e.Code {
						t.Errorf("the example yields %v", diag.List{d})
					}
				}
			})
		}
	}
}

func TestAnnotations(t *testing.T) {
	const text = `
// Not part of the query.
query find($name: String @description("Whom."), $min: I32?)
  @description("Finds\na person.")
  @instruction("Ask first.")
  @mcp(expose: false, tool_name = "find_it", title: "Find", idempotent: true,)
{ match { $p: Person { name: $name } $p.age >= $min? } return { $p.name } } // nor this
query plain() { match { $p: Person } return { $p.name } }
`
	qs, faults := gq.CompileQueries(graph(t), gq.Source{Name: "a.gq", Text: text})
	if faults != nil || len(qs) != 2 {
		t.Fatal(len(qs), faults)
	}
	q := *qs[0]
	yes := true
	if !strings.HasPrefix(q.Text, "query find(") || !strings.HasSuffix(q.Text, "{ $p.name } }") {
		t.Errorf("text %q", q.Text)
	}
	if q.Span.String() != "a.gq:3:1" || q.Span.End.Line != 7 {
		t.Errorf("span %v to %v", q.Span, q.Span.End)
	}
	if p := q.Places; p.Name.String() != "a.gq:3:7" || p.ToolName.String() != "a.gq:6:35" || len(p.Columns) != 1 || p.Columns[0].String() != "a.gq:7:65" {
		t.Errorf("places %v", p)
	}
	q.Plan, q.Info, q.Text, q.Span, q.Places = nil, nil, "", diag.Span{}, compile.Places{}
	want := gq.Query{
		File: "a.gq", Description: "Finds\na person.", Instruction: "Ask first.", ParamDocs: []string{"Whom.", ""},
		Expose: false, ToolName: "find_it", Title: "Find", Idempotent: &yes,
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if p := qs[1]; !p.Expose || p.Idempotent != nil || p.ToolName != "" {
		t.Errorf("plain: %+v", p)
	}
}

func TestInfo(t *testing.T) {
	const text = `query q($used: String, $unused: I32?) {
  match { $p: Person { name: $used } $q: Company not { $r knows $p } $p.age > $unused }
  return { $p }
}`
	qs, faults := gq.CompileQueries(graph(t), gq.Source{Name: "a.gq", Text: text})
	if faults != nil {
		t.Fatal(faults)
	}
	type use struct {
		Name, Span string
		Uses       int
		Inner      bool
	}
	info, p := qs[0].Info, qs[0].Plan
	var got []use
	for i, s := range info.Params {
		got = append(got, use{p.Params[i].Name, s.Span.String(), s.Uses, s.Inner})
	}
	for i, s := range info.Vars {
		got = append(got, use{p.Read.Vars[i].Name, s.Span.String(), s.Uses, s.Inner})
	}
	want := []use{
		{"used", "a.gq:1:9", 1, false}, {"unused", "a.gq:1:24", 1, false},
		{"p", "a.gq:2:11", 3, false}, {"q", "a.gq:2:38", 0, false}, {"r", "a.gq:2:56", 0, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(info.Compares) != 2 || info.Compares[1].Span.String() != "a.gq:2:70" {
		t.Errorf("compares %+v", info.Compares)
	}
}

// TestRealQueries compiles the queries that this repository serves.
func TestRealQueries(t *testing.T) {
	s, faults := gq.CompileSchema(readFile(t, "../queries/code/schema.pg"))
	if faults != nil {
		t.Fatal(faults)
	}
	var sources []gq.Source
	for _, path := range glob(t, "../queries/code/*.gq") {
		sources = append(sources, readFile(t, path))
	}
	if _, faults := gq.CompileQueries(s, sources...); faults != nil {
		t.Error(faults)
	}
}

// TestStoredAnnotations compiles the text of a schema that an earlier version has stored. The text
// must compile to the same catalog as before.
func TestStoredAnnotations(t *testing.T) {
	src := gq.Source{Name: "schema.pg", Text: `node A @team("x") @key { x: String @key @deprecated }`}
	if _, faults := gq.CompileSchema(src); len(faults) != 3 {
		t.Errorf("a new text: %v", faults)
	}
	s, faults := compile.StoredSchema(src)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	if n := s.Node("A"); len(n.Annotations) != 2 || n.Annotations[0].Name != "team" || n.Properties[0].Annotations[0].Name != "deprecated" {
		t.Errorf("found %+v", n)
	}
	src.Text = `node A { x: String @unique y: I32 @unique(x) @range(y, 0..9) @range(y, 0..9) @check(x, "a") @check(x, "a") }`
	if _, faults := gq.CompileSchema(src); len(faults) != 3 {
		t.Errorf("a new text with repeated rules: %v", faults)
	}
	if s, faults = compile.StoredSchema(src); faults.HasErrors() || len(s.Node("A").Unique) != 2 || len(s.Node("A").Ranges) != 2 || len(s.Node("A").Checks) != 2 {
		t.Errorf("a stored text with repeated rules: %v", faults)
	}
	if _, faults := compile.StoredSchema(gq.Source{Name: "schema.pg", Text: "node A { x: Strng }"}); !faults.HasErrors() {
		t.Error("an unknown type is accepted")
	}
}

func TestRightQueries(t *testing.T) {
	s, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: "node A { x: String @key }"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const right = "() { match { $a: A } return { $a.x } } "
	for text, want := range map[string]string{
		"query a" + right + "query b() { match { $a: B } return { $a.x } } query c" + right: "[a c]",
		"query a" + right + "query b() { match $a return { $a.x } }\nquery c" + right:       "[a c]",
		"query b() { match { $a: A } return { $a.y } }":                                     "[]",
		"query a" + right + "query a" + right:                                               "[a]",
	} {
		src := gq.Source{Name: "q.gq", Text: text}
		_, faults := gq.CompileQueries(s, src)
		if got := fmt.Sprint(compile.RightQueries(src, faults)); got != want || !faults.HasErrors() {
			t.Errorf("%s: found %s, want %s; faults %v", text, got, want, faults)
		}
	}
}

// TestLintClaims lints a query that uses a claim of its callers.
func TestLintClaims(t *testing.T) {
	schema := gq.Source{Name: "a.pg", Text: "node Person { name: String @key age: I32? }\n"}
	query := gq.Source{Name: "a.gq", Text: `query mine() @description("Those of my age.") { match { $p: Person $p.age = actor().age } return { $p.name } order { $p.name } limit 5 }`}
	if faults := gq.Lint(schema, query); faults.Err() == nil {
		t.Error("a claim that no option declares is accepted")
	}
	options := gq.Options{Claims: plan.Claims{"age": value.Of(value.I32).Optional()}}
	if faults := options.Lint(schema, query); len(faults) > 0 {
		t.Error(faults)
	}
}
