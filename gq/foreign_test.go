package gq_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// foreignText is a text with habits of another language.
type foreignText struct{ name, construct, text string }

// foreignTexts reads the texts of the files that match a pattern.
func foreignTexts(t testing.TB, pattern string) (out []foreignText) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n== ")[1:] {
			head, body, _ := strings.Cut(part, "\n")
			name, construct, ok := strings.Cut(head, ": ")
			if !ok {
				t.Fatalf("%s: the line %q names no construct", file, head)
			}
			out = append(out, foreignText{name, construct, strings.TrimSpace(body)})
		}
	}
	return out
}

// guideSchema compiles the schema at the beginning of docs/language.md, which the texts use.
func guideSchema(t testing.TB) *catalog.Schema {
	t.Helper()
	guide, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```pg\n")
	text, _, _ := strings.Cut(rest, "```")
	s, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: text})
	if s == nil {
		t.Fatal(faults)
	}
	return s
}

// repair changes a text by the text of its error alone, to one query or to several.
func repair(message string) string {
	_, query, ok := strings.Cut(message, "nearest query: ")
	if !ok {
		_, query, _ = strings.Cut(message, "nearest queries: ")
	}
	query, _, _ = strings.Cut(query, "\n")
	return strings.TrimSuffix(query, ")")
}

// compiles reports whether an offer is one query, or several ones if the error says so, without faults.
func compiles(t *testing.T, s *catalog.Schema, message, offer string) bool {
	t.Helper()
	queries, faults, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, s, gq.Source{Name: "query", Text: offer})
	if err != nil {
		t.Fatal(err)
	}
	return !faults.HasErrors() && (len(queries) > 1) == strings.Contains(message, "nearest queries: ") && len(queries) > 0
}

// TestForeign checks the errors of texts with habits of other languages: each names the construct to
// use, and a repairer that sees only the error makes at least 95 % of them valid in one step. The
// golden file has the repaired texts, so that a reader can compare their meanings.
func TestForeign(t *testing.T) {
	s := guideSchema(t)
	texts := foreignTexts(t, "testdata/foreign/*.txt")
	valid := 0
	var b bytes.Buffer
	for _, f := range texts {
		_, faults, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, s, gq.Source{Name: "query", Text: f.text})
		if err != nil {
			t.Fatal(err)
		}
		if !faults.HasErrors() {
			t.Errorf("%s has no error, so it shows no habit:\n%s", f.name, f.text)
			continue
		}
		message := faults.Error()
		if !strings.Contains(message, f.construct) {
			t.Errorf("%s: the error does not contain %s:\n%s", f.name, f.construct, message)
		}
		query := repair(message)
		if compiles(t, s, message, query) {
			valid++
		} else {
			t.Logf("%s is not repaired: %s", f.name, message)
		}
		fmt.Fprintf(&b, "%s\n  %s\n  %s\n", f.name, strings.ReplaceAll(f.text, "\n", "\n  "), query)
	}
	if len(texts) < 100 || valid*100 < len(texts)*95 {
		t.Errorf("%d of %d texts are valid after one step, want 95 %%", valid, len(texts))
	}
	golden.Check(t, "testdata/foreign/repaired.golden", b.Bytes())
}

// TestForeignBlind checks the errors of the texts of authors who did not know the language; docs/evaluation.md has the
// results of their first runs. The golden file of a set has each question, text and repaired text, so that a reader can compare
// their meanings.
func TestForeignBlind(t *testing.T) {
	for _, set := range []struct {
		folder, corpus string
		floor          int // of 100 texts, how many are valid or repaired
		told           int // how many others are told what to use
	}{
		{"blind", "shop", 85, 10}, {"blind2", "lab", 84, 11}, {"blind3", "incidents", 90, 5}, {"blind4", "library", 93, 4}, {"blind5", "logistics", 81, 6}, {"blind6", "", 86, 2}, {"blind7", "", 73, 0},
	} {
		t.Run(set.folder, func(t *testing.T) {
			all, good, told, _ := checkRepairs(t, set.corpus, "testdata/foreign/"+set.folder)
			t.Logf("%d of %d texts are valid or repaired, and %d are told what to use", good, all, told)
			if all != 100 || good < set.floor || told < set.told {
				t.Errorf("want %d and %d of 100", set.floor, set.told)
			}
		})
	}
}

// TestForeignKnown checks the errors of texts whose authors knew the translation, and of texts that get no query.
func TestForeignKnown(t *testing.T) {
	for _, set := range []struct {
		folder string
		corpus []string
	}{
		{"", []string{"shop", "incidents"}},
		{"sql/", []string{"care", "city", "hr", "incidents", "library", "shop"}},
		{"graphql/", []string{"care", "city", "hr", "incidents", "lab", "library", "shop"}},
		{"cygql/", []string{"care", "city", "hr", "incidents", "lab", "library", "shop"}},
	} {
		for _, corpus := range set.corpus {
			t.Run(set.folder+corpus, func(t *testing.T) {
				if all, good, told, none := checkRepairs(t, corpus, "testdata/foreign/"+set.folder+corpus); all == 0 || good+told+none < all {
					t.Errorf("%d of %d texts are repaired, %d told what to use, and %d known to have no offer", good, all, told, none)
				}
			})
		}
	}
}

// checkRepairs reads the texts of a folder, for a schema of testdata/corpus or, without one, of the folder. A text is good
// if it has no error, or if its error offers a query. It is told what to use if its error has the words after `says:` and offers none. After `none:` a text has the
// reason why there is no offer: each query would have other rows, or the translation leaves a rare construct out. The golden file of the folder has the repaired texts.
func checkRepairs(t *testing.T, corpus, folder string) (all, good, told, none int) {
	t.Helper()
	schema := folder
	if corpus != "" {
		schema = "testdata/corpus/" + corpus
	}
	s, faults := gq.CompileSchema(readFile(t, schema+"/schema.pg"))
	if s == nil {
		t.Fatal(faults)
	}
	var b bytes.Buffer
	for _, f := range foreignTexts(t, folder+"/*.txt") {
		all++
		says, reason := "", ""
		if rest, ok := strings.CutPrefix(f.text, "says: "); ok {
			says, f.text, _ = strings.Cut(rest, "\n")
		} else if rest, ok := strings.CutPrefix(f.text, "none: "); ok {
			reason, f.text, _ = strings.Cut(rest, "\n")
		}
		_, faults, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, s, gq.Source{Name: "query", Text: f.text})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n  %s\n", f.name, f.construct, strings.ReplaceAll(f.text, "\n", "\n  "))
		if says == "" && !faults.HasErrors() {
			good++
			b.WriteString("  (valid)\n")
			continue
		}
		message := faults.Error()
		query := repair(message)
		if says != "" {
			if query == "" && strings.Contains(message, says) {
				told++
			} else {
				t.Logf("%s: the error does not say %q, or offers a query: %s", f.name, says, message)
			}
			fmt.Fprintf(&b, "  (no counterpart: %s)\n", says)
			continue
		}
		if reason != "" {
			if none++; query != "" {
				t.Errorf("%s: the error offers a query, although %s: %s", f.name, reason, message)
			}
			fmt.Fprintf(&b, "  (no offer: %s)\n", reason)
			continue
		}
		if compiles(t, s, message, query) && strings.Count(message, "\n") == 0 {
			good++
		} else {
			t.Logf("%s is not repaired: %s", f.name, message)
		}
		fmt.Fprintf(&b, "  %s\n", query)
	}
	golden.Check(t, folder+"/repaired.golden", b.Bytes())
	return all, good, told, none
}

// TestNoNearest checks texts that have no counterpart, and ordinary mistakes: their errors offer no
// query, because it would leave out something that the text asks for.
func TestNoNearest(t *testing.T) {
	s := guideSchema(t)
	for _, text := range []string{
		`MATCH (n) RETURN n`,
		`MATCH (p:Person) CALL db.index.fulltext.queryNodes("x", "y") YIELD node RETURN node`,
		`MATCH (p:Person) WITH p LIMIT 3 MATCH (p)-[:KNOWS]->(q) WITH q, count(p) AS n MATCH (q)-[:KNOWS]->(r) RETURN r.name`,
		`MATCH (p:Person)-[:LIKES]->(q) RETURN q.name`,
		`MATCH (p:Person) RETURN p.salary`,
		`MERGE (p:Person {email: "a@x.org"}) ON CREATE SET p.level = "lead"`,
		`SELECT name FROM Person UNION SELECT name FROM Team OFFSET 3`,
		`SELECT name FROM Person UNION SELECT salary FROM Team`,
		`SELECT name, LAG(name) OVER (ORDER BY name) FROM Person`,
		`SELECT name FROM Person ORDER BY born, name LIMIT 10 OFFSET 20`,
		`SELECT level, COUNT(*) FROM Person GROUP BY name`,
		`UPDATE Person SET level = 'lead'`,
		`DELETE FROM Person`,
		`{ person(email: "a@x.org", unknown: 3) { name } }`,
		`{ persons(where: { name: { near: "a" } }) { name } }`,
		`{ persons(where: { salary: 3 }) { name } }`,
		`{ persons(where: { or: { name: "a", level: lead } }) { name } }`,
		`{ persons(after: "x", first: 3) { name } }`,
		`{ persons { name knows @skip(if: true) { name } } }`,
		`{ persons { name knows { name @client } } }`,
		`query { match { $p: Person, $q: Person } call ($p) { match { $p knows $q } return { count($q) as n } } return { $p.name, $n } }`,
		`query { match { $p: Person, $p <> $q } return { $p.name } depth: 0.5 }`,
		`query { match { $p: Person } return { $p { name, knows { name } } } depth: 0 }`,
		`query { match { $p: Person, $p (knows memberOf | knows) $q } return { $p.name } }`,
		`query { match { $p: Person } return { $p.level, $p.name, count(*) as n } group by $p.level }`,
		`query { match { $p: Person } fetch first 3 rows with ties }`,
		`mutation { updatePerson(email: "a@x.org", level: lead, dryRun: true) { name } }`,
		`mutation { deletePersons(where: { level: { near: lead } }) { count } }`,
		`mutation { match { $p: Person } remove $p.name }`,
		`MATCH (p:Person) WITH p LIMIT 3 MATCH (p)-[:KNOWS]->(q) RETURN q.name`,
		`MATCH (p:Person) WITH p LIMIT 3 WHERE p.level = "lead" RETURN p.name`,
		`MATCH (p:Person) WITH p LIMIT 3 RETURN count(p) AS n`,
		`MATCH (p:Person)-[:KNOWS]->(q) WITH p MATCH (p)-[:KNOWS]->(r) RETURN q.name`,
		`MATCH (p:Person) WITH DISTINCT p.name AS n RETURN n`,
		`MATCH (p:Person) RETURN p.name LIMIT 3 NEXT ORDER BY p.name`,
		`MATCH (p:Person) RETURN p.name AS n NEXT MATCH (q:Person) RETURN q.name`,
		`MATCH (a:Person {email: $x}), (b:Person {email: $y}) MERGE (a)-[k:KNOWS]->(b) SET k.weight = 1`,
		`MATCH (a:Person {email: $x}), (b:Person {email: $y}) MERGE (a)-[k:KNOWS]->(b) ON MATCH SET k.weight = 1`,
		`MATCH ACYCLIC (p:Person)-[:KNOWS]->{1,3}(q) RETURN q.name`,
		`query { match { $p: Person $p knows { weight } $q } return { $q.name } }`,
		`query { match { $p: Person $p knows { weight: 1, unknown: 2 } $q } return { $q.name } }`,
		`query { match { $p: Person } nearest: { face: $text, minScore: 0.5 } return { $p.name } }`,
		`{ personAggregate { count max { unknown } } }`,
		`query q() { match { $p: Person } return { $p.nmae } }`,
		`query q() { match { $p: Persn } return { $p.name } }`,
		`query q() { match { $p: Person $p.born > 3 } return { $p.name } }`,
		`'`, `"`, "`", `(`, `{`, `query`, `é`,
	} {
		_, faults, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, s, gq.Source{Name: "query", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if query := repair(faults.Error()); !faults.HasErrors() || query != "" {
			t.Errorf("%s\noffers %s", text, query)
		}
	}
}
