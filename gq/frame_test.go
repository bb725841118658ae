package gq_test

import (
	"context"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// TestFrame checks the help of texts without a nearest query: a query over the types that the text names, and constructs
// for its words.
func TestFrame(t *testing.T) {
	s, faults := gq.CompileSchema(readFile(t, "testdata/corpus/library/schema.pg"))
	if s == nil {
		t.Fatal(faults)
	}
	for _, tt := range []struct{ name, text, help string }{
		{"types and properties", "SELECT w.title, w.year FROM Work w JOIN Wrote r ON ??? LEFT JOIN Author a",
			"write it as a query; this example over its types is no translation: query q() { match { $a wrote $w } return { $w.title, $w.year } }; optional { … } keeps a row although the block has no match"},
		{"an edge between two of a type", "MATCH (a:Work)-[:CITES]->(b:Work ???) RETURN count(b)", "query q() { match { $w cites $w2 } return { $w } }; a column such as count($q) as n groups by the other columns"},
		{"an insert", "UNWIND $rows AS row ??? CREATE (b:Branch {code: row.code})",
			"query q($code: String, $name: String, $city: String, $open_sunday: Bool) { insert new Branch { code: $code, name: $name, city: $city, open_sunday: $open_sunday } }; for $row in $rows { insert … }"},
		{"an insert with an edge", "MATCH (w:Work {isbn: $isbn}) ??? INSERT (r:Review {stars: 5}), (r)-[:REVIEWS]->(w)",
			"query q($text: String, $stars: I32, $written: DateTime, $work: String) { match { $w: Work { isbn: $work } } { $r = insert Review { text: $text, stars: $stars, written: $written } insert Reviews { from: $r, to: $w } } }"},
		{"an update of a variable", "query q() { match { $b: Branch $c KeptAt $b { x: 1 } $c: Copy } update $c set shelf = ??? }",
			"query q($barcode: I64, $shelf: String) { match { $c keptAt $b $c.barcode = $barcode } { update Copy set { shelf: $shelf } where barcode = $c.barcode } }"},
		{"a delete of a variable", "MATCH (r:Reader)-[:RESERVED]->(w:Work) ??? DETACH DELETE r", "query q($card: String) { match { $r reserved $w $r.card = $card } { delete Reader where card = $r.card } }"},
		{"an enum", "INSERT INTO works (language) ???", "query q($title: String, $isbn: String, $year: I32, $language: String) { insert new Work {"},
		{"an insert that ignores a conflict", "INSERT INTO works (language) ??? ON CONFLICT DO NOTHING", "query q($title: String, $isbn: String, $year: I32, $language: String) { insert Work {"},
		{"an insert of this language", "query q($code: String) { insert Branch { code: $code } ??? }", "query q($code: String, $name: String, $city: String, $open_sunday: Bool) { insert Branch {"},
		{"an update", "UPDATE works SET pages = ???", "query q($isbn: String, $pages: I32) { update Work set { pages: $pages } where isbn = $isbn }"},
		{"a type without a key", "UPDATE review SET stars = ???", "query q($stars: I32, $id: String) { update Review set { stars: $stars } where id = $id }"},
		{"a delete", "mutation { delete_reader_by_pk(card: ???) }", "query q($card: String) { delete Reader where card = $card }"},
		{"an insert of an edge", "INSERT INTO follows ???", "query q($from: Reader, $to: Author) { insert Follows { from: $from, to: $to } }"},
		{"an update of an edge", "UPDATE wrote SET role = ???", "query q($from: Author, $to: Work, $role: String) { update Wrote set { role: $role } where from = $from and to = $to }"},
		{"another end", "UPDATE kept_at SET branch_code = ???", "query q($from: Copy, $to: Branch) { delete KeptAt where from = $from insert KeptAt { from: $from, to: $to } }"},
		{"a delete of an edge", "DELETE FROM reserved ???", "query q($from: Reader, $to: Work) { delete Reserved where from = $from and to = $to }"},
		{"an edge that the text does not name", "SELECT w.title, p.city FROM works w, publishers p WHERE ???", "query q() { match { $w publishedBy $p } return { $w.title, $p.city } }"},
		{"a property of an edge", "SELECT due FROM borrowed WHERE ???", "query q() { match { $r $b:borrowed $c } return { $b.due } }"},
		{"a query with one fault", "query q() { match { $a: Author } return { $a.name }", "a query over these types: query q() { match { $a: Author } return { $a.name } }"},
		{"a query with several faults", "query q() { match { $a Wrote $w } where $w.title ~ 'x' ??? }", "a query over these types: query q() { match { $a wrote $w } return { $w.title } }"},
		{"a change of the schema", "CREATE INDEX work_year FOR (w:Work) ON (w.year)", "(help: types, keys, indexes and constraints are declared in the schema"},
		{"the schema", "SELECT column_name FROM information_schema.columns WHERE table_name = 'work'", "(help: a query reads no schema"},
		{"no type", "SELECT a FROM b ???", "write it as a query: query people()"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, s, gq.Source{Name: "query", Text: tt.text})
			if err != nil {
				t.Fatal(err)
			}
			if !faults.HasErrors() || !strings.Contains(faults.Error(), tt.help) {
				t.Errorf("got %v\nwant %s", faults, tt.help)
			}
		})
	}
}
