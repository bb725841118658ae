package syntax

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

func TestScan(t *testing.T) {
	tests := []struct{ text, want string }{
		{"0..200", "Int:0 Punct:.. Int:200"},
		{"0.5..1.5", "Float:0.5 Punct:.. Float:1.5"},
		{"..-3", "Punct:.. Int:-3"},
		{"-1.25 - 3", "Float:-1.25 Punct:- Int:3"},
		{"a->B", "Name:a Punct:-> TypeName:B"},
		{"$p.name $_", "Var:$p Punct:. Name:name Var:$_"},
		{"<=<>=!==", "Relation:<= Relation:< Relation:>= Relation:!= Relation:="},
		{`"a\"b" // c`, `String:"a\"b"`},
		{"\"a\nb\"x", "String:\"a\nb\" Name:x"},
		{"a/* /* */b", "Name:a Name:b"},
		{"\uFEFFa", "Name:a"},
		{"_x9Y", "Name:_x9Y"},
		{"2d", "Int:2 Name:d"},
	}
	names := map[string]string{}
	for name, typ := range symbols {
		names[string(rune(typ))] = name
	}
	for _, test := range tests {
		s := scan(nil, "x", test.text)
		var got []string
		for _, tok := range s.tokens {
			got = append(got, names[string(rune(tok.Type))]+":"+tok.Value)
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" || s.faults != nil {
			t.Errorf("%q: %v\n%s", test.text, s.faults, diff)
		}
	}
}

func TestPositions(t *testing.T) {
	s := scan(nil, "x", "é \"ü\nß\" a /* ö\n*/ b")
	var got []string
	for _, tok := range s.tokens {
		got = append(got, SpanOf(tok).String()+"-"+strings.TrimPrefix(diagEnd(tok), "x:"))
	}
	want := []string{"x:1:3-2:3", "x:2:4-2:5", "x:3:4-3:5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.faults) != 1 || s.faults[0].Code != BadCharacter {
		t.Errorf("faults %v", s.faults)
	}
	if len(s.comments) != 1 || s.comments[0].Text != "/* ö\n*/" || s.comments[0].Span.End.Line != 3 {
		t.Errorf("comments %+v", s.comments)
	}
}

func diagEnd(t Token) string {
	s := SpanOf(t)
	s.Start = s.End
	return s.String()
}

func TestText(t *testing.T) {
	if got := Text(Token{Value: `"a\"b\\c\n\r\t"`}); got != "a\"b\\c\n\r\t" {
		t.Errorf("%q", got)
	}
}

func TestUnfinished(t *testing.T) {
	tests := []struct{ text, want string }{
		{`query q() { match { $p: Person { name: "open } } return { $p } }`, "x.gq:1:40: error P4: string without an end"},
		{"query q() { match { $p: P } return { $p } } /* open", "x.gq:1:45: error P6: comment without an end"},
		{"query q() { match {\n $p: P", "x.gq:2:7: error P7: unexpected end of the declaration, want `}`"},
		{"query", "x.gq:1:6: error P7: unexpected end of the declaration, want a name"},
		{"match { }", "x.gq:1:1: error P7: unexpected `match`, want `query`"},
		{"query q() { match { $p: P } return { $p } }\n} x", "x.gq:2:1: error P7: unexpected `}`, want `query`"},
	}
	for _, test := range tests {
		_, faults := ParseQueries("x.gq", test.text)
		if len(faults) != 1 || !strings.HasPrefix(faults.Error(), test.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", test.text, faults, test.want)
		}
	}
}

func TestNesting(t *testing.T) {
	nest := func(open, end string, n int) string {
		return "query q() { match { $p: P " + strings.Repeat(open, n) + strings.Repeat(end, n) + "$p.x = 1 } return { $p } }"
	}
	if _, faults := ParseQueries("x", nest("not { $p: P ", "}", maxNesting-2)); faults != nil {
		t.Error(faults)
	}
	for _, text := range []string{
		nest("not { ", "}", maxNesting), nest("not { ", "}", 100_000), nest("[", "]", 100_000), nest("count(", ")", 100_000),
	} {
		_, faults := ParseQueries("x", text)
		if len(faults) != 1 || faults[0].Code != TooDeep {
			t.Errorf("%d bytes: %.200v", len(text), faults)
		}
	}
}

func TestEnumValues(t *testing.T) {
	s, faults := ParseSchema("x.pg", "node A { x: enum(a, in-progress, 2d, 3-4, A_b, -1) y: enum(a) }")
	if faults != nil {
		t.Fatal(faults)
	}
	got := s.Decls[0].(*Node).Members[0].(*Property).Type.Value().Enum
	if diff := cmp.Diff([]string{"a", "in-progress", "2d", "3-4", "A_b", "-1"}, got); diff != "" {
		t.Error(diff)
	}
	if _, faults := ParseSchema("x.pg", "node A { x: enum(a b) }"); len(faults) != 1 {
		t.Error(faults)
	}
}

// TestSchemaAmbiguity checks that a constraint after a property belongs to the body of the type,
// unless it has no parentheses.
func TestSchemaAmbiguity(t *testing.T) {
	s, faults := ParseSchema("x.pg", `node A {
		x: String @key @deprecated("y", since=3) @index(x) @range(x, 0..1)
		index: I32 @index
		@unique(index)
	}`)
	if faults != nil {
		t.Fatal(faults)
	}
	var got []string
	for _, m := range s.Decls[0].(*Node).Members {
		switch m := m.(type) {
		case *Property:
			line := m.Name.Value
			for _, a := range m.Annotations {
				line += " @" + a.Name.Value
			}
			got = append(got, line)
		case *ListConstraint:
			got = append(got, "list "+m.Kind.Value)
		case *RangeConstraint:
			got = append(got, "range")
		case *CheckConstraint:
			got = append(got, "check")
		}
	}
	want := []string{"x @key @deprecated", "list index", "range", "index @index", "list unique"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseQueries(f *testing.F) {
	seed(f, "../../../gq/testdata/*/*.gq", "../../../gq/testdata/corpus/*/*.gq", "../../../queries/*/*.gq")
	f.Fuzz(func(t *testing.T, text string) {
		file, faults := ParseQueries("x", text)
		for _, d := range faults {
			checkInside(t, text, d.Span.Start.Offset, d.Span.End.Offset)
		}
		for _, q := range file.Queries {
			s := q.Span()
			checkInside(t, text, s.Start.Offset, s.End.Offset)
			if again, faults := ParseQueries("x", text[s.Start.Offset:s.End.Offset]); faults != nil || len(again.Queries) != 1 {
				t.Errorf("the text of query %s does not parse alone: %v", q.Name.Value, faults)
			}
		}
	})
}

func FuzzParseSchema(f *testing.F) {
	seed(f, "../../../gq/testdata/*.pg", "../../../gq/testdata/*/*.pg", "../../../gq/testdata/corpus/*/*.pg", "../../../queries/*/*.pg")
	f.Fuzz(func(t *testing.T, text string) {
		schema, faults := ParseSchema("x", text)
		for _, d := range faults {
			checkInside(t, text, d.Span.Start.Offset, d.Span.End.Offset)
		}
		if len(schema.Decls) > 0 && strings.TrimSpace(text) == "" {
			t.Error("declarations out of nothing")
		}
	})
}

func checkInside(t *testing.T, text string, from, to int) {
	t.Helper()
	if from < 0 || from > to || to > len(text) {
		t.Errorf("span %d to %d in %d bytes", from, to, len(text))
	}
}

func seed(f *testing.F, patterns ...string) {
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			// Use small seeds: the fuzzer would spend its time on making large ones smaller.
			for _, part := range strings.SplitAfter(string(b), "}\n") {
				f.Add(part)
			}
		}
	}
}

// TestSubqueryKeywords checks that each aggregate that may have a block starts one, and no other aggregate does.
func TestSubqueryKeywords(t *testing.T) {
	for _, a := range plan.Aggregates {
		text := "query q() { match { $p: Person } return { " + a.Name + " { $p knows $q return $q.age } as x } }"
		if a.Name == "collect" {
			text = strings.Replace(text, "$q.age", "$q.age limit 3", 1)
		}
		_, faults := ParseQueries("q.gq", text)
		starts := a.Block || a.Name == "collect"
		if slices.Contains(SubqueryKeywords, a.Name) != starts || (len(faults) == 0) != starts {
			t.Errorf("%s: Block is %t, the keyword is in the list: %t, parsed with %v", a.Name, a.Block, slices.Contains(SubqueryKeywords, a.Name), faults)
		}
	}
}
