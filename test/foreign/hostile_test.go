package foreign_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestHostile holds what the errors say of the texts in hostile, whose words, literals and groups look like something else. The
// golden file has each text, and the queries that the error offers for it, or the advice that it gives instead. TestOffers runs those of
// SQL and Cypher.
func TestHostile(t *testing.T) {
	s, _ := schemaOf(t, sets+"corpus/library", false)
	files, err := filepath.Glob("hostile/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			names, texts := blocks(t, file)
			if !slices.IsSorted(names) {
				t.Errorf("%s: the names are not in order", file)
			}
			for _, name := range names {
				_, faults, err := gq.CompileQueriesWithin(t.Context(), gq.Limits{}, s, gq.Source{Name: "query", Text: texts[name]})
				if err != nil {
					t.Fatal(err)
				}
				if !faults.HasErrors() {
					t.Errorf("%s has no error, so it is no text of another language", name)
				}
				x := &text{Name: name, original: texts[name]}
				answer := "  no offer" + advice(faults.Error())
				if x.offered(t, s) {
					answer = "  " + x.offer
				}
				fmt.Fprintf(&b, "%s\n  %s\n%s\n", name, strings.ReplaceAll(texts[name], "\n", "\n  "), answer)
			}
			golden.Check(t, "hostile/"+name+".golden", b.Bytes())
		})
	}
}

// advice returns what an error without an offer says of the first construct, after a colon, or "".
func advice(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	_, help, ok := strings.Cut(first, "(help: ")
	if !ok {
		return ""
	}
	return ": " + strings.TrimSuffix(help, ")")
}

var (
	statement = regexp.MustCompile(`\b(?:delete|update|insert new|insert|upsert) (\w+)`)
	ofSQL     = regexp.MustCompile(`^(DELETE|UPDATE|INSERT)\b`)
	ofCypher  = regexp.MustCompile(`^(MATCH|MERGE|UNWIND|CREATE)\b`)
)

// idOf writes the id of a node in Cypher. A key of one property is the key in LadybugDB, too.
func idOf(variable string, n *catalog.Node) string {
	if len(n.Key) == 1 {
		return "CAST(" + variable + "." + n.Key[0] + " AS STRING)"
	}
	return variable + ".pk__"
}

// changesOf returns the changes of SQL and Cypher with an offer that changes one type, and with what reads the rows of that type.
func changesOf(t *testing.T, s *catalog.Schema) (out []*text) {
	names, texts := blocks(t, "hostile/writes.txt")
	for _, name := range names {
		x := &text{Name: "changes/" + name, Language: "cypher", Text: texts[name], original: texts[name]}
		if ofSQL.MatchString(x.Text) {
			x.Language = "sql"
		} else if !ofCypher.MatchString(x.Text) {
			continue
		}
		if !x.offered(t, s) {
			continue
		}
		changed := statement.FindAllStringSubmatch(x.offer, -1)
		if slices.ContainsFunc(changed, func(m []string) bool { return m[1] != changed[0][1] }) {
			continue
		}
		typ := changed[0][1]
		binding, pattern := "$n: "+typ, "(n:"+typ+")"
		var mine, sql, cypher []string // the columns in each language
		var columns []*catalog.Property
		if n := s.Node(typ); n != nil {
			columns = n.Properties
		} else {
			binding, pattern = "$a $n:"+strings.ToLower(typ[:1])+typ[1:]+" $b", "(a)-[n:"+typ+"]->(b)"
			e := s.Edge(typ)
			mine, sql, cypher = []string{"$n.from", "$n.to"}, []string{"src", "dst"}, []string{idOf("a", s.Node(e.From)), idOf("b", s.Node(e.To))}
			columns = e.Properties
		}
		for _, p := range columns {
			if kindOf(p.Type.Kind) != "" && !p.Type.List {
				mine, sql, cypher = append(mine, "$n."+p.Name), append(sql, `"`+p.Name+`"`), append(cypher, "n."+p.Name)
			}
		}
		if x.After = "MATCH " + pattern + " RETURN " + strings.Join(cypher, ", "); x.Language == "sql" {
			x.After = "SELECT " + strings.Join(sql, ", ") + ` FROM "` + typ + `"`
		}
		queries, faults := gq.CompileQueries(s, gq.Source{Name: "after", Text: "query after() { match { " + binding + " } return { " + strings.Join(mine, ", ") + " } }"})
		if faults.HasErrors() {
			t.Fatal(faults)
		}
		x.after = queries[0]
		out = append(out, x)
	}
	return out
}
