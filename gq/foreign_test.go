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

// blindFloor is the number of the texts in testdata/foreign/blind, of 100, whose error leads to a valid
// query or says what to use instead. Their author had never seen the language. In the first run, the
// translation repaired 7 of them: 84 contain `query {`, for which it had no query. After `query q() {` had
// replaced `query {` in the texts, it repaired 40.
const blindFloor = 100

// TestForeignBlind checks the errors of texts by an author who did not know the language. The golden file has
// each question, text and repaired text, so that a reader can compare their meanings.
func TestForeignBlind(t *testing.T) {
	if all, good := checkRepairs(t, "shop", "testdata/foreign/blind"); all != 100 || good < blindFloor {
		t.Errorf("%d of %d texts are repaired or told what to use, want %d of 100", good, all, blindFloor)
	}
}

// secondFloor is the number of the texts in testdata/foreign/blind2, of 100, that are valid as they are or whose
// error leads to a valid query or says what to use instead. Another author who had never seen the language wrote
// them, after the translation fitted the texts in testdata/foreign/blind. In the first run 2 were valid and 55 of
// the other 98 were repaired: this is the estimate for texts to which the translation was not fitted. The
// translation from before the first set repaired 22 of them.
const secondFloor = 100

// TestForeignSecond checks the errors of the second set of texts by an author who did not know the language.
func TestForeignSecond(t *testing.T) {
	if all, good := checkRepairs(t, "lab", "testdata/foreign/blind2"); all != 100 || good < secondFloor {
		t.Errorf("%d of %d texts are valid, repaired or told what to use, want %d of 100", good, all, secondFloor)
	}
}

// thirdFloor is the number of the texts in testdata/foreign/blind3, of 100, that are valid as they are or whose error
// leads to a valid query or says what to use instead. A third author, who had seen neither the language nor its
// parser, wrote them after the translation fitted the two sets before. In the first run none was valid and 64 were
// repaired (20 of 28 for Cypher, 17 of 28 for SQL, 10 of 22 for GraphQL, 17 of 22 for ISO GQL), all of them with the
// meaning of their question. The errors of 6 others said what to use instead of something without a counterpart:
// together 70. Rules were then written for the failures of Cypher and SQL alone; the texts for GraphQL and ISO GQL were
// still repaired at the rate of the first run, 27 of 44.
const thirdFloor = 100

// TestForeignThird checks the errors of the third set of texts by an author who did not know the language.
func TestForeignThird(t *testing.T) {
	if all, good := checkRepairs(t, "incidents", "testdata/foreign/blind3"); all != 100 || good < thirdFloor {
		t.Errorf("%d of %d texts are valid, repaired or told what to use, want %d of 100", good, all, thirdFloor)
	}
}

// fourthFloor is the number of the texts in testdata/foreign/blind4, of 100, whose error leads to a valid query or says
// what to use instead. A fourth author wrote them, who had seen one line with an example of the language. In the first run 68
// were repaired: 21 of 28 for Cypher, 16 of 28 for SQL, 13 of 22 for GraphQL, 18 of 22 for ISO GQL. Then rules were written
// for the failures of all four, and for other texts.
const fourthFloor = 100

// TestForeignFourth checks the errors of the fourth set of texts by an author who did not know the language.
func TestForeignFourth(t *testing.T) {
	if all, good := checkRepairs(t, "library", "testdata/foreign/blind4"); all != 100 || good < fourthFloor {
		t.Errorf("%d of %d texts are repaired or told what to use, want %d of 100", good, all, fourthFloor)
	}
}

// fifthFloor is the number of the texts in testdata/foreign/blind5, of 100, whose error leads to a valid query or says what
// to use instead. Their author was another one like that of the fourth set, and wrote them before the translation was extended for the
// fourth set. Nobody saw them until then: 65 were repaired before, and 81 after.
const fifthFloor = 90

// TestForeignFifth checks the errors of the fifth set of texts by an author who did not know the language.
func TestForeignFifth(t *testing.T) {
	if all, good := checkRepairs(t, "logistics", "testdata/foreign/blind5"); all != 100 || good < fifthFloor {
		t.Errorf("%d of %d texts are repaired or told what to use, want %d of 100", good, all, fifthFloor)
	}
}

// sixthFloor is the number of the texts in testdata/foreign/blind6, of 100, whose error leads to a valid query or says what
// to use instead. Two authors like those of the sets before wrote them for a schema that nobody else had used, after rules had been written
// for the failures of the fifth set. In the first run 89 were repaired, and the errors of 2 said that no query does it.
const sixthFloor = 91

// TestForeignSixth checks the errors of the sixth set of texts by authors who did not know the language.
func TestForeignSixth(t *testing.T) {
	if all, good := checkRepairs(t, "", "testdata/foreign/blind6"); all != 100 || good < sixthFloor {
		t.Errorf("%d of %d texts are repaired or told what to use, want %d of 100", good, all, sixthFloor)
	}
}

// TestForeignShop checks the errors of texts whose author knew the translation.
func TestForeignShop(t *testing.T) {
	if all, good := checkRepairs(t, "shop", "testdata/foreign/shop"); all == 0 || good < all {
		t.Errorf("%d of %d texts are repaired or told what to use", good, all)
	}
}

// TestForeignIncidents checks the errors of more texts whose author knew the translation, and of texts that get no query.
func TestForeignIncidents(t *testing.T) {
	if all, good := checkRepairs(t, "incidents", "testdata/foreign/incidents"); all == 0 || good < all {
		t.Errorf("%d of %d texts are repaired or told what to use", good, all)
	}
}

// TestForeignSQL checks the errors of texts with habits of PostgreSQL, for several schemas. Their author knew the
// translation.
func TestForeignSQL(t *testing.T) {
	for _, corpus := range []string{"care", "city", "hr", "incidents", "library", "shop"} {
		if all, good := checkRepairs(t, corpus, "testdata/foreign/sql/"+corpus); all == 0 || good < all {
			t.Errorf("%s: %d of %d texts are repaired or told what to use", corpus, good, all)
		}
	}
}

// TestForeignGraphQL checks the errors of texts with habits of Hasura, Neo4j, Prisma, Dgraph, PostGraphile, Gatsby and Strapi.
// The author of the texts knew the language. Four sets were written one after the other: of 69 texts the translation
// repaired 22 before it was extended, of 71 others 53 after that, of 33 others 30 after the next extension, and of the last
// 22 it repaired 20.
func TestForeignGraphQL(t *testing.T) {
	for _, corpus := range []string{"shop", "library", "incidents", "lab", "hr", "care", "city"} {
		if all, good := checkRepairs(t, corpus, "testdata/foreign/graphql/"+corpus); all == 0 || good < all {
			t.Errorf("%s: %d of %d texts are repaired or told what to use", corpus, good, all)
		}
	}
}

// TestForeignCypherGQL checks the errors of texts of Cypher and ISO GQL for several schemas.
func TestForeignCypherGQL(t *testing.T) {
	for _, corpus := range []string{"shop", "lab", "incidents", "library", "care", "city", "hr"} {
		t.Run(corpus, func(t *testing.T) {
			if all, good := checkRepairs(t, corpus, "testdata/foreign/cygql/"+corpus); all == 0 || good < all {
				t.Errorf("%d of %d texts are repaired or told what to use", good, all)
			}
		})
	}
}

// checkRepairs reads the texts of a folder, for a schema of testdata/corpus or, without one, of the folder. A text is good if it has no error, or if
// its error offers a query, or has the words after `says:` and offers none. The golden file of the folder has the
// repaired texts.
func checkRepairs(t *testing.T, corpus, folder string) (all, good int) {
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
		says := ""
		if rest, ok := strings.CutPrefix(f.text, "says: "); ok {
			says, f.text, _ = strings.Cut(rest, "\n")
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
				good++
			} else {
				t.Logf("%s: the error does not say %q, or offers a query: %s", f.name, says, message)
			}
			fmt.Fprintf(&b, "  (no counterpart: %s)\n", says)
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
	return all, good
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
