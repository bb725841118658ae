package foreign_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/instead"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

const schemaText = `
interface Named { name: String }
node Person implements Named { email: String @key name: String born: Date? level: enum(junior, senior, lead) }
node Team implements Named { name: String @key size: I32? }
edge MemberOf: Person -> Team { since: Date? }
edge Knows: Person -> Person { weight: F64? }
`

// schema compiles schemaText.
func schema(t testing.TB) *catalog.Schema {
	t.Helper()
	tree, faults := syntax.ParseSchema("schema.pg", schemaText)
	s, more := resolve.Schema(tree)
	if len(faults) > 0 || len(more) > 0 {
		t.Fatal(faults, more)
	}
	return s
}

// TestNoteOfInserts checks that the notes say that an insert replaces a node only if the offer has such an insert.
func TestNoteOfInserts(t *testing.T) {
	s := schema(t)
	for text, want := range map[string]bool{
		`query { insert Team { name: "a" } }`:                                     true,
		`query { insert new Team { name: "a" } }`:                                 false,
		`INSERT INTO team (name) VALUES ('a')`:                                    false,
		`INSERT INTO team (name) VALUES ('a') ON CONFLICT (name) DO NOTHING`:      false,
		`INSERT INTO knows (src, dst) VALUES ('a', 'b')`:                          false,
		`UNWIND $rows AS row CREATE (:Person {email: row.email, name: row.name})`: false,
		`CREATE (:Team {name: "a"}) MERGE (:Team {name: "b"})`:                    false,
		`mutation { createTeam(input: { name: "a" }) { name } }`:                  false,
	} {
		offer, ok := foreign.Rewrite(s, text)
		if got := slices.ContainsFunc(offer.Notes, func(n string) bool { return strings.Contains(n, "replaces a node") }); !ok || got != want {
			t.Errorf("%s: got %v, want %v: %s %q", text, got, want, offer.Query, offer.Notes)
		}
	}
}

// TestRewriteOfLiterals checks that a literal which looks like a part of a query is none.
func TestRewriteOfLiterals(t *testing.T) {
	s := schema(t)
	for text, want := range map[string]string{
		`SELECT name, COUNT(*) AS n FROM Person WHERE name <> 'a = count(b) ) (' GROUP BY name HAVING COUNT(*) > 1`:        `query q() { match { $p: Person $p.name != "a = count(b) ) (" } return { $p.name, count($p) as n } having { n > 1 } }`,
		`MATCH (p:Person) WHERE NOT p.name = 'x < y' RETURN p.name`:                                                        `query q() { match { $p: Person not { $p.name = "x < y" } } return { $p.name } }`,
		`MATCH (p:Person {name: "} is null"}) SET p.level = "lead"`:                                                        `query q() { update Person set { level: "lead" } where name = "} is null" }`,
		`MATCH (p:Person)-[:KNOWS]->(q) WITH p, count(q) AS n WHERE n > 1 AND p.name <> ") as n" RETURN p.name, n`:         `query q() { match { $p $k1:knows $q $p.name != ") as n" } return { $p.name, count($q) as n, $p.id as p_id } having { n > 1 } }`,
		`MATCH (p:Person) WHERE p.name = "a" OR p.name = "$q knows $r" DELETE p`:                                           `query q() { match { $p: Person any { $p.name = "a" $p.name = "$q knows $r" } } { delete Person where email = $p.email } }`,
		`SELECT name, ROW_NUMBER() OVER (PARTITION BY name ORDER BY email) AS n FROM Person WHERE name <> '$p <knows> $q'`: `query q() { match { $p: Person $p.name != "$p <knows> $q" } return { $p.name, count { $p2: Person $p2.name != "$p <knows> $q" $p2.name = $p.name any { $p2.email < $p.email all { $p2.email = $p.email $p2.id < $p.id } } } + 1 as n } }`,
	} {
		if offer, ok := foreign.Rewrite(s, text); !ok || offer.Query != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, offer.Query, want)
		}
	}
}

// TestRewriteOfEnds checks that no offer leaves out one of two conditions that put different nodes at the same end of an edge, and
// that none puts a node there that a text compares by another column than its key.
func TestRewriteOfEnds(t *testing.T) {
	s := schema(t)
	const joined, exists = "SELECT a.name, b.name FROM Person a, Person b JOIN Knows k ON k.src = a.email AND k.%s = b.email",
		"SELECT a.name, b.name FROM Person a, Person b WHERE EXISTS (SELECT 1 FROM Knows k WHERE k.src = a.email AND k.%s = b.email)"
	for _, c := range []struct{ text, end, want string }{ // want is "" for no offer
		{joined, "dst", "query q() { match { $a $k1:knows $b } return { $a.name, $b.name } }"},
		{joined, "src", ""},
		{exists, "dst", "query q() { match { $a: Person $b: Person exists { $a knows $b } } return { $a.name, $b.name } }"},
		{"SELECT p.name FROM Person p JOIN Knows k ON k.src = p.%s", "person_id", "query q() { match { $p $k1:knows $_ } return { $p.name } }"},
		{"SELECT p.name FROM Person p JOIN Knows k ON k.src = p.%s", "name", ""},
		{"SELECT p.name FROM Person p WHERE EXISTS (SELECT 1 FROM Knows k WHERE k.src = p.%s)", "name", "query q() { match { $p: Person exists { $_ $k:knows $_ $k.from = $p.name } } return { $p.name } }"},
		{exists, "src", "query q() { match { $a: Person $b: Person exists { $a $k:knows $_ $k.from = $b.email } } return { $a.name, $b.name } }"},
	} {
		text := fmt.Sprintf(c.text, c.end)
		if offer, ok := foreign.Rewrite(s, text); ok != (c.want != "") || ok && offer.Query != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", text, offer.Query, c.want)
		}
	}
}

// TestRewriteOfNestedValues checks that values which use each other twice do not double the query again and again.
func TestRewriteOfNestedValues(t *testing.T) {
	s := schema(t)
	for n, want := range map[int]bool{3: true, 12: false, 60: false} {
		text := "MATCH (t:Team) LET v0 = t.size + t.size"
		for i := 1; i < n; i++ {
			text += fmt.Sprintf(", v%d = v%d + v%d", i, i-1, i-1)
		}
		offer, ok := foreign.Rewrite(s, text+fmt.Sprintf(" RETURN v%d AS v", n-1))
		if ok != want {
			t.Errorf("%d values: got %v, want %v: %d bytes", n, ok, want, len(offer.Query))
		}
	}
}

// TestRewriteOfNestedGroups checks that aggregates of aggregates do not multiply the clauses of the match again and again.
func TestRewriteOfNestedGroups(t *testing.T) {
	s := schema(t)
	for n, want := range map[int]bool{1: true, 2: true, 3: true, 12: false} {
		text := ""
		for i := range n {
			text += strings.ReplaceAll(" MATCH (p:Person)-[:KNOWS]->(q#:Person) WITH p, count(q#) AS a#, min(q#.born) AS b#, max(q#.born) AS c# WHERE a# > 3 AND b# IS NULL AND c# IS NULL", "#", fmt.Sprint(i))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		offer, ok := foreign.Rewrite(s, text+" RETURN p.name")
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; ok != want || spent > 16<<20 {
			t.Errorf("%d groups: got %v with %d bytes of memory, want %v: %d bytes", n, ok, spent, want, len(offer.Query))
		}
	}
}

// FuzzRewrite checks that no text makes the translation panic or write a very long query.
func FuzzRewrite(f *testing.F) {
	var files []string
	for _, pattern := range []string{"*.txt", "blind/*.txt", "blind2/*.txt", "blind3/*.txt", "shop/*.txt", "incidents/*.txt", "sql/*/*.txt", "graphql/*/*.txt", "cygql/*/*.txt"} {
		more, err := filepath.Glob("../../../../gq/testdata/foreign/" + pattern)
		if err != nil || len(more) == 0 {
			f.Fatal("no texts", err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n== ")[1:] {
			_, body, _ := strings.Cut(part, "\n")
			f.Add(body)
		}
	}
	f.Add(strings.Repeat("(p WHERE ", 400))
	f.Add("MATCH (p:Person) WHERE " + strings.Repeat("(", 400))
	f.Add("SELECT " + strings.Repeat("CASE WHEN ", 300))
	f.Add("query({(}(}}") // parameters without an end
	s := schema(f)
	f.Fuzz(func(t *testing.T, text string) {
		offer, ok := foreign.Rewrite(s, text)
		if !ok && offer.Query != "" {
			t.Errorf("a query without ok: %q", offer.Query)
		}
		foreign.RewriteParts(s, text)
		instead.Notes(s, text)
		instead.Frame(s, text)
		instead.Constructs(text)
		if len(offer.Query) > 64*lex.MaxText {
			t.Errorf("the query has %d bytes", len(offer.Query))
		}
	})
}
