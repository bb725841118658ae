package guide_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
)

func compileSchema(t *testing.T, name, text string) *catalog.Schema {
	t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: name, Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// schemas returns the schemas of the repository, some with unusual names, and random ones.
func schemas(t *testing.T) map[string]*catalog.Schema {
	t.Helper()
	all := map[string]*catalog.Schema{
		"nothing":   compileSchema(t, "nothing", ""),
		"bare":      compileSchema(t, "bare", "node Thing { data: Blob? }"),
		"keywords":  compileSchema(t, "keywords", "node Match { limit: String @key not: I32? return: [String]? query: Date? } node Not { match: Bool } edge Contains: Match -> Match { order: I32 } edge Search: Match -> Not edge Return: Not -> Match"),
		"composite": compileSchema(t, "composite", "node Pair { b: I32 a: String @key(b, a) } edge Next: Pair -> Pair"),
		"required":  compileSchema(t, "required", `node Doc { text: String vec: Vector(2) @embed("text") raw: Blob } edge W: Doc -> Doc { w: I32 src_id: String }`),
		"W":         compileSchema(t, "W", "node W { w: I32 } edge E: W -> W { w: I32 } node Name { name: String @key } edge Words: Name -> W"),
	}
	for _, pattern := range []string{"../../../queries/*/*.pg", "../../../gq/testdata/*.pg", "../../../gq/testdata/corpus/*/*.pg", "../../../codegen/testdata/corpus/*.pg"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = compileSchema(t, path, string(text))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		name := fmt.Sprintf("random %d", i)
		all[name] = compileSchema(t, name, random(r))
	}
	return all
}

// random returns the text of a schema of a few types with properties of all kinds.
func random(r *rand.Rand) string {
	types := []string{"String", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "Date", "DateTime", "Blob", "Vector(2)", "enum(on, off-2)", "[String]", "[I64]", "[Date]"}
	names := []string{"id2", "name", "limit", "date", "now", "contains", "asc", "count", "x", "_y"}
	props := func(key bool) string {
		var b strings.Builder
		for i, n := range r.Perm(len(names))[:r.IntN(5)] {
			typ, mark := types[r.IntN(len(types))], ""
			switch plain := !strings.ContainsAny(typ, "[(") && typ != "Blob"; {
			case key && i == 0 && plain:
				mark = " @key"
			case r.IntN(2) == 0:
				mark = "?"
			}
			fmt.Fprintf(&b, " %s: %s%s", names[n], typ, mark)
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString("interface Shared { title: String }\n")
	nodes := 1 + r.IntN(4)
	for i := range nodes {
		implements := ""
		if i == 0 || r.IntN(2) == 0 {
			implements = "implements Shared "
		}
		fmt.Fprintf(&b, "node T%d %s{%s }\n", i, implements, props(r.IntN(2) == 0))
	}
	end := func() string {
		if r.IntN(4) == 0 {
			return "Shared"
		}
		return fmt.Sprintf("T%d", r.IntN(nodes))
	}
	for i := range r.IntN(4) {
		fmt.Fprintf(&b, "edge E%d: %s -> %s {%s }\n", i, end(), end(), props(false))
	}
	return b.String()
}

func check(t *testing.T, s *catalog.Schema, what, query string) {
	t.Helper()
	if _, faults := gq.CompileQueries(s, gq.Source{Name: what, Text: query}); faults.HasErrors() {
		t.Errorf("%s\n%s%v", what, query, faults)
	}
}

// TestExamples checks every example of every topic against the schema of the example.
func TestExamples(t *testing.T) {
	own := 0
	for name, s := range schemas(t) {
		for _, topic := range guide.Topics() {
			page := guide.Explain(s, topic.Name)
			for _, e := range page.Examples {
				against := s
				if e.Schema != "" {
					against = compileSchema(t, "made up", e.Schema)
				} else {
					own++
				}
				check(t, against, name+", "+topic.Name+", "+e.Title, e.Query)
			}
		}
	}
	if own < 500 {
		t.Errorf("only %d examples use the names of a schema", own)
	}
}

// TestOwnExamples checks every example of a page that has only examples of the graph's own schema.
func TestOwnExamples(t *testing.T) {
	own, left := 0, 0
	for name, s := range schemas(t) {
		for _, topic := range guide.Topics() {
			whole := guide.Explain(s, topic.Name)
			page := whole.Own()
			left += len(whole.Examples) - len(page.Examples)
			for _, e := range page.Examples {
				own++
				check(t, s, name+", "+topic.Name+", "+e.Title, e.Query)
			}
			if strings.Contains(page.String(), "the example is of one with this schema") {
				t.Errorf("%s, %s: an example on the page has a made-up schema", name, topic.Name)
			}
		}
	}
	if own < 500 || left < 50 {
		t.Errorf("kept %d examples and left out %d, expected at least 500 and 50", own, left)
	}
}

// TestFilters checks that a property takes each operator that Operators and Rankings list for
// it.
func TestFilters(t *testing.T) {
	seen := map[string]bool{}
	for name, s := range schemas(t) {
		for _, n := range s.Nodes {
			for _, p := range n.Properties {
				for _, op := range guide.Operators(p.Type) {
					seen[op] = true
					cond, param := guide.Filter("$v", p, op)
					check(t, s, name+", "+n.Name+"."+p.Name+" "+op, "query q("+param+") { match { $v: "+n.Name+" "+cond+" } return { $v.id } }")
				}
				for _, f := range guide.Rankings(p.Type) {
					seen[f] = true
					check(t, s, name+", "+n.Name+"."+p.Name+" "+f, "query q($x: "+map[string]string{"bm25": "String", "nearest": p.Type.Required().String()}[f]+") { match { $v: "+n.Name+" } return { $v.id } order { "+f+"($v."+p.Name+", $x) } limit 3 }")
				}
			}
		}
	}
	if len(seen) != 15 {
		t.Errorf("saw %v", seen)
	}
}

func TestPaths(t *testing.T) {
	for name, s := range schemas(t) {
		for _, from := range s.Nodes {
			for _, to := range s.Nodes {
				paths, _ := guide.Paths(s, from.Name, to.Name, 3, 5)
				last := 0
				for _, p := range paths {
					if len(p.Steps) < last || len(p.Steps) > 3 {
						t.Errorf("%s: %s to %s: %d steps after %d", name, from.Name, to.Name, len(p.Steps), last)
					}
					last = len(p.Steps)
					check(t, s, name, "query q() { match {\n"+p.Match+"\n} return { $"+strings.ToLower(from.Name[:1])+from.Name[1:]+".id } }")
				}
			}
		}
	}
	s := compileSchema(t, "s", "node A {} node B {} node C {} node D {} edge Ab: A -> B edge Cb: C -> B edge Ac: A -> C edge Aa: A -> A")
	var got []string
	for _, pair := range [][2]string{{"A", "B"}, {"A", "A"}, {"A", "D"}, {"C", "A"}} {
		paths, more := guide.Paths(s, pair[0], pair[1], 3, 10)
		got = append(got, fmt.Sprintf("%s to %s, more %t", pair[0], pair[1], more))
		for _, p := range paths {
			got = append(got, "  "+strings.ReplaceAll(p.Match, "\n", " | "))
		}
	}
	golden.Check(t, "testdata/paths.txt", []byte(strings.Join(got, "\n")+"\n"))
	if paths, more := guide.Paths(s, "A", "B", 3, 1); len(paths) != 1 || !more {
		t.Errorf("%d paths, more %t; want one of several", len(paths), more)
	}
}

// TestPathsOfDenseSchema checks that the search stops at its bound in a schema that has an edge
// between every two types.
func TestPathsOfDenseSchema(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "node N%d {}\n", i)
		for j := range i {
			fmt.Fprintf(&b, "edge E%dx%d: N%d -> N%d\n", i, j, i, j)
		}
	}
	b.WriteString("node Alone {}")
	s := compileSchema(t, "dense", b.String())
	if paths, more := guide.Paths(s, "N0", "N39", 8, 100_000); !more || len(paths) == 0 {
		t.Errorf("%d paths, more %t", len(paths), more)
	}
	if paths, more := guide.Paths(s, "N0", "Alone", 8, 10); len(paths) != 0 || more {
		t.Errorf("found %d paths to a type that no edge leads to, more %t", len(paths), more)
	}
}

func TestReference(t *testing.T) {
	text, err := os.ReadFile("../../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/code.md", []byte(guide.Reference(compileSchema(t, "schema.pg", string(text)))))
	names := []string{}
	for _, topic := range guide.Topics() {
		names = append(names, topic.Name)
		if topic.Summary == "" || strings.Contains(topic.Summary, "\n") {
			t.Errorf("%s: %q", topic.Name, topic.Summary)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(names)))); n != len(names) {
		t.Errorf("topics: %v", names)
	}
	if guide.Explain(compileSchema(t, "", ""), "nothing") != nil {
		t.Error("there is a page for no topic")
	}
}
