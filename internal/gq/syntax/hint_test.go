package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// habits are texts in the style of other languages. A test replaces the • in the text `frame` by
// each of them.
type habits struct {
	schema bool
	frame  string
	texts  []habit
}

type habit struct {
	text   string
	blamed string // the underlined texts, joined with bars if there are several errors
	help   string // the help texts, joined likewise
}

// TestHelp checks each habit. It must cause one report, at the right place and with the right help.
// Each row of the tables must have a habit.
func TestHelp(t *testing.T) {
	served := map[*hint]bool{}
	noteHint = func(h *hint) { served[h] = true }
	defer func() { noteHint = func(*hint) {} }()
	for _, group := range [][]habits{queryHabits, clauseHabits, schemaHabits, literalHabits()} {
		for _, h := range group {
			for _, want := range h.texts {
				text := strings.Replace(h.frame, "•", want.text, 1)
				got := habit{text: want.text}
				var blamed, helps []string
				for _, d := range h.parse(text) {
					blamed = append(blamed, text[d.Span.Start.Offset:d.Span.End.Offset])
					helps = append(helps, d.Help)
				}
				got.blamed, got.help = strings.Join(blamed, " | "), strings.Join(helps, " | ")
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(habit{})); diff != "" {
					t.Errorf("%s\n%s", text, diff)
				}
			}
		}
	}
	for _, r := range rules() {
		if !served[r.hint] {
			t.Errorf("no text is helped by %+v", *r.hint)
		}
	}
}

// literalHabits returns a text for each function that writes a literal. The text calls the function
// with a variable as its argument.
func literalHabits() []habits {
	h := habits{frame: "query a() { match { $p: Person } return { • } }"}
	for _, k := range value.Kinds() {
		if f := k.Literal(); f != "" && k != value.Date { // date is also a function of any expression
			h.texts = append(h.texts, habit{f + "($n)", "$n", "write " + f + "(" + k.Example() + "), or declare a parameter as " + k.String()})
		}
	}
	return []habits{h}
}

func (h habits) parse(text string) diag.List {
	if h.schema {
		_, faults := ParseSchema("x", text)
		return faults
	}
	_, faults := ParseQueries("x", text)
	return faults
}

// TestHelpIsRight parses the texts that the tables advise.
func TestHelpIsRight(t *testing.T) {
	clause := func(s string) string { return "query q() { match { $p: P " + s + " } return { $p } }" }
	body := func(s string) string { return "query q() { " + s + " }" }
	for _, text := range []string{
		strings.TrimPrefix(queryForm, "write it as a query: "), strings.TrimPrefix(mutationForm, "write it as a query: "),
		clause(`$p.name in ["a", "b"]`), clause("$p.name is null"), clause("$p.name is not null"), clause(`any { $p.age > 60 $p.level = "lead" }`),
		clause(`$p.name matches "^A"`), clause("exists { $p knows $q }"), clause("any { $tag is null exists { $p tagged $t $t.name = $tag } }"),
		clause(`$p.name contains "x"`), clause(`$p.name starts_with "x"`), clause(`search($p.name, "word")`),
		clause("$p knows{1,3} $q"), clause("$p $e:knows $q $e.since > 3"), clause("$p <knows> $q"), clause("$p.name > $last"),
		body("insert Person { name: $name }"), body("delete Person where name = $name"), body("update Person set { name: $name } where name = $old"),
		body("insert Knows { from: $a to: $b }"),
		body("match { $p: Person $p.age > 30 } return { $p.name count($q) as n } order { $p.name desc } limit 100"),
		body(`match { $p: Person { born: date("2024-01-31"), at: datetime("2024-01-31T12:00:00Z") } } return { $p }`),
	} {
		if _, faults := ParseQueries("x", text); faults != nil {
			t.Errorf("%s\n%v", text, faults)
		}
	}
	for _, text := range []string{
		"node Person { name: String }", "edge Knows: Person -> Person @card(0..)", "node A implements Named { s: enum(active, gone) }",
		"node A { a: String? b: [String]? v: Vector(384) @unique(a, b) @range(a, 0..1) }", "edge Knows: Person -> Person @card(1..1)",
	} {
		if _, faults := ParseSchema("x", text); faults != nil {
			t.Errorf("%s\n%v", text, faults)
		}
	}
}

// TestScalarList checks that the help lists every scalar.
func TestScalarList(t *testing.T) {
	n := len(scalarNames)
	if want := "the scalars are " + strings.Join(scalarNames[:n-1], ", ") + " and " + scalarNames[n-1]; scalarList != want {
		t.Errorf("got  %s\nwant %s", scalarList, want)
	}
}

// TestNoHelp checks that an error that matches no row gets no help.
func TestNoHelp(t *testing.T) {
	for _, text := range []string{
		"query q() { match { $p: Person [ } return { $p } }",
		"query q() { match { $p: Person $p.name contains } return { $p } }",
		"query q() { match { $p: Person } return { $p as } }",
		"query q() { match { $p: Person } return { $p } order { } }",
		"query q() { insert Person { name: } }",
		"query q() { match { $p: Person é } return { $p } }",
		"query q() { match { $p: Person don't } return { $p } }",
		"query q($n: ) { match { $p: Person } return { $p } }",
		"query q() @mcp(exposed: true) { match { $p: Person } return { $p } }",
		"query q() { match { $p: Person $a contains{1,2} } return { $p } }",
		"query q() { match { $p: Person $p.limit 10 } return { $p } }",
		"query q() { match { $p: Person $p.and $q.x = 1 } return { $p } }",
		"query q() { match { $p: Person $p.age > > 3 } return { $p } }",
		"query q() { match { $p: not { $p.x = 1 } } return { $p } }",
		"query q() { match { $p: Person { name: $n, $p.age > 3 } return { $p } }",
	} {
		_, faults := ParseQueries("x", text)
		if len(faults) != 1 || faults[0].Help != "" {
			t.Errorf("%s\n%v", text, faults)
		}
	}
}

// TestQuotes checks that a text in foreign quotes is reported as one error, if the closing quote is
// on the same line.
func TestQuotes(t *testing.T) {
	tests := []struct{ text, blamed string }{
		{"'a b'", "'a b'"},
		{"'a' 'b'", "'a' | 'b'"},
		{"'a\n'", "' | '"},
		{"it's, isn't", "' | '"},
		{"“é”", "“é”"},
		{"“e“", "“ | “"},
		{"`a`", "`a`"},
		{"&& ||", "&& | ||"},
		{"# it's\n'a'", "# | 'a'"},
		{"#", "#"},
		{"'", "'"},
	}
	for _, test := range tests {
		s := scan(nil, "x", test.text)
		var blamed []string
		for _, d := range s.faults {
			blamed = append(blamed, test.text[d.Span.Start.Offset:d.Span.End.Offset])
		}
		if got := strings.Join(blamed, " | "); got != test.blamed {
			t.Errorf("%q: got %q, want %q", test.text, got, test.blamed)
		}
	}
}
