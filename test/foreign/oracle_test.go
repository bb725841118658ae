// Package foreign_test runs the texts of other languages beside the queries that the errors offer for them.
package foreign_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const sets = "../../gq/testdata/"

// text is a text of another language, and what the server offers for it.
type text struct {
	Name     string         `json:"name"`
	Language string         `json:"language"`
	Text     string         `json:"text"`
	Params   map[string]any `json:"params"`
	After    string         `json:"after"` // reads what a change has left, in the same language
	original string
	offer    string
	offers   []*gq.Query
	after    *gq.Query // reads the same from the graph
}

// blocks reads the files of texts that match a pattern: a line "== name" or "== name: words" before each.
func blocks(t *testing.T, pattern string) (names []string, texts map[string]string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no texts: ", pattern, err)
	}
	texts = map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(b), "\n== ")[1:] {
			head, body, _ := strings.Cut(part, "\n")
			name, _, _ := strings.Cut(head, ": ")
			if _, twice := texts[name]; twice {
				t.Fatalf("%s: the name %s occurs twice", file, name)
			}
			names = append(names, name)
			texts[name] = strings.TrimSpace(body)
		}
	}
	return names, texts
}

// lines reads a file of lines "name: words".
func lines(t *testing.T, file string) map[string]string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if name, words, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			out[name] = words
		}
	}
	return out
}

var (
	writes = regexp.MustCompile(`(?i)^\s*(//.*\n|--.*\n)*\s*(insert|update|delete|mutation|alter|create|begin|merge)\b|\b(create|merge|detach|delete|insert|set)\b\s*[({$a-z]`)
	pure   = regexp.MustCompile(`(?i)^\s*((//|--).*\n\s*)*(select|with|match|optional|unwind|call)\b`)
	limits = regexp.MustCompile(`(?i)(SKIP 0 )?\b(LIMIT \d+( OFFSET 0)?|FETCH FIRST \d+ ROWS ONLY)\s*;?\s*$`)
	limit  = regexp.MustCompile(`\s+limit \d+\s*\}( query |$)`)
)

// TestOffers runs each read of the six blind sets and of hostile, in SQL or Cypher, beside its offer, and compares the rows. The set
// changes has the changes of hostile, whose rows are what they leave. A text in a mixture of languages is run as readings.txt says it in
// one. unrun.txt lists exactly the texts with an offer that are not run or differ, with the reasons.
func TestOffers(t *testing.T) {
	folder := os.Getenv("OMNIGRAPH_TEST_FOREIGN")
	if folder == "" {
		t.Skip("make test-foreign installs what this test needs")
	}
	unrun, changes := lines(t, "unrun.txt"), lines(t, "changes.txt")
	_, readings := blocks(t, "readings.txt")
	all, offered, written, run := 0, 0, 0, 0 // of the blind sets
	needed := map[string]bool{}
	for _, set := range []struct{ folder, schema string }{
		{"changes", "corpus/library"}, {"hostile", "corpus/library"}, {"blind", "corpus/shop"}, {"blind2", "corpus/lab"}, {"blind3", "corpus/incidents"},
		{"blind4", "corpus/library"}, {"blind5", "corpus/logistics"}, {"blind6", "foreign/blind6"},
	} {
		t.Run(set.folder, func(t *testing.T) {
			s, source := schemaOf(t, sets+set.schema, set.folder == "changes")
			var texts []*text
			if set.folder == "changes" {
				texts = changesOf(t, s)
			}
			for _, language := range []string{"sql", "cypher"} {
				if set.folder == "changes" {
					break
				}
				folder := sets + "foreign/" + set.folder
				if set.folder == "hostile" {
					folder = set.folder
				}
				names, bodies := blocks(t, folder+"/"+language+"*.txt")
				for _, name := range names {
					if writes.MatchString(bodies[name]) {
						continue
					}
					blind := set.folder != "hostile"
					if blind {
						all++
					}
					x := &text{Name: set.folder + "/" + name, Language: language, original: bodies[name]}
					if x.Text = x.original; readings[x.Name] != "" {
						x.Text = readings[x.Name]
						if x.Language = "sql"; strings.HasPrefix(x.Text, "MATCH") {
							x.Language = "cypher"
						}
					}
					for change := range strings.SplitSeq(changes[x.Name], "; ") {
						from, to, ok := strings.Cut(change, " => ")
						if !ok {
							break
						}
						if !strings.Contains(x.original, from) {
							t.Errorf("changes.txt: %s does not contain %q", x.Name, from)
						}
						x.original, x.Text = strings.ReplaceAll(x.original, from, to), strings.ReplaceAll(x.Text, from, to)
					}
					if !x.offered(t, s) {
						t.Logf("%s has no offer", x.Name)
						continue
					}
					if blind {
						offered++
					}
					if !pure.MatchString(x.Text) {
						if needed[x.Name] = true; unrun[x.Name] == "" {
							t.Errorf("%s mixes languages: say it in one in readings.txt", x.Name)
						}
						continue
					}
					if texts = append(texts, x); blind && readings[x.Name] == "" && unrun[x.Name] == "" {
						written++
					}
					if y := x.firstRows(); y != nil && y.offered(t, s) {
						texts = append(texts, y)
					}
				}
			}
			o := &outcomes{unrun: unrun, needed: needed, cut: map[string]string{}, filled: map[string]bool{}}
			for seed := range shapes {
				ran := o.compare(t, folder, s, source, texts, seed)
				if seed == 0 && strings.HasPrefix(set.folder, "blind") {
					run += ran
				}
			}
			for name, differs := range o.cut {
				if differs != "" {
					t.Errorf("%s: the first rows differ on all data, which equal sort keys do not explain:\n%s", name, differs)
				}
			}
			for _, x := range texts {
				if !o.filled[x.Name] && unrun[x.Name] == "" {
					t.Logf("%s has no rows on any data", x.Name)
				}
			}
			for name, reason := range unrun {
				if strings.HasPrefix(name, set.folder+"/") && !needed[name] {
					t.Errorf("unrun.txt: %s runs, and its rows do not differ, or it has no offer, although: %s", name, reason)
				}
			}
		})
	}
	t.Logf("%d reads, %d with an offer, %d of them run on %d sets of data, %d as they are written", all, offered, run, len(shapes), written)
	if run*10 < all*7 {
		t.Errorf("%d of %d reads are run, want 70 %%", run, all)
	}
}

// schemaOf compiles the schema of a folder without vectors, which need a model. If it is loose, nodes need no edges, so that all can be
// deleted.
func schemaOf(t *testing.T, folder string, loose bool) (*catalog.Schema, string) {
	b, err := os.ReadFile(folder + "/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`(?m)^\s*\w+: Vector.*\n`).ReplaceAllString(string(b), "")
	if loose {
		source = strings.ReplaceAll(source, "@card(1..", "@card(0..")
	}
	s, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
	if s == nil {
		t.Fatal(faults)
	}
	return s, source
}

// offered compiles the text and the offer of its error, and reports whether there is one.
func (x *text) offered(t *testing.T, s *catalog.Schema) bool {
	queries, faults, err := gq.CompileQueriesWithin(t.Context(), gq.Limits{}, s, gq.Source{Name: "query", Text: x.original})
	if err != nil {
		t.Fatal(err)
	}
	x.offer = x.original
	if faults.HasErrors() {
		_, offer, ok := strings.Cut(faults.Error(), "nearest query: ")
		if !ok {
			_, offer, ok = strings.Cut(faults.Error(), "nearest queries: ")
		}
		if offer, _, _ = strings.Cut(offer, "\n"); !ok {
			return false
		}
		x.offer = strings.TrimSuffix(offer, ")")
		if queries, faults = gq.CompileQueries(s, gq.Source{Name: "query", Text: x.offer}); faults.HasErrors() {
			t.Fatalf("%s: the offer %s has faults: %s", x.Name, x.offer, faults.Error())
		}
	}
	x.offers = queries
	return true
}

const (
	withLimit    = " with a limit"
	withoutLimit = " without its limit"
)

// firstRows returns a text with an order, but no limit, with a limit, so that its order matters. It returns nil for other texts.
func (x *text) firstRows() *text {
	if !ordered(x.Text) || distinct.MatchString(x.Text) || limitOf(x.Text) >= 0 || x.Text != x.original {
		return nil
	}
	more := strings.TrimRight(x.original, "; \n") + " LIMIT 3"
	return &text{Name: x.Name + withLimit, Language: x.Language, Text: more, original: more}
}

// outcomes are those of the texts of a set on all data.
type outcomes struct {
	unrun  map[string]string // by name of a text, or of a text and a database, that is not run: the reason
	needed map[string]bool   // the names that unrun has to have
	cut    map[string]string // by name of a text with a limit and of a database: how the first rows differ, or "" if they do not
	filled map[string]bool   // the texts that have rows on some data
}

// compare runs texts and their offers on data, and returns how many gave the same rows. A text with a limit is also run without it. With
// the limit, rows with equal sort keys may differ, so cut notes how the rows differ, unless they are equal on some data.
func (o *outcomes) compare(t *testing.T, folder string, s *catalog.Schema, source string, texts []*text, seed int) (ran int) {
	g := &generator{shape: shapes[seed], rng: rand.New(rand.NewPCG(uint64(seed), 7)), schema: s, wanted: map[string][]string{}, now: clock.Now().UTC()}
	for _, x := range texts {
		g.want(x.offer)
	}
	d := g.make()
	graph, err := embedded.OpenMemory(t.Context(), source, s, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	load(t, graph, s, d)
	var runs []*text
	for _, x := range texts {
		x.Params = map[string]any{}
		for _, q := range x.offers {
			for _, p := range q.Plan.Params {
				if x.after == nil || !p.Type.Nullable { // a null is in the text of a change
					x.Params[p.Name] = argument(x.offer, p, d)
				}
			}
		}
		if len(x.offers) == 1 || !limits.MatchString(x.Text) { // the limit of a union is for the caller, who merges the rows
			runs = append(runs, x)
		}
		if limits.MatchString(x.Text) && !strings.HasSuffix(x.Name, withLimit) {
			y := *x
			y.Name, y.Text, y.offer = x.Name+withoutLimit, limits.ReplaceAllString(x.Text, ""), limit.ReplaceAllString(x.offer, " }$1")
			if y.offers, _ = gq.CompileQueries(s, gq.Source{Name: "query", Text: y.offer}); y.offer == x.offer || len(y.offers) == 0 {
				t.Fatalf("%s: the limit of %s is not at its end", x.Name, x.offer)
			}
			runs = append(runs, &y)
		}
	}
	answers := originals(t, folder, s, d, runs)
	for _, x := range runs {
		base := strings.TrimSuffix(strings.TrimSuffix(x.Name, withoutLimit), withLimit)
		listed := o.unrun[base] != ""
		got, columns := x.rows(t, graph)
		o.filled[x.Name] = o.filled[x.Name] || len(got) > 0
		var seen, faults []string
		same := 0
		for _, db := range []string{"sqlite", "duckdb", "ladybug"} {
			a, ok := answers[x.Name][db]
			if !ok || db == "duckdb" && strings.HasSuffix(x.Name, withLimit) { // where nulls come elsewhere
				continue
			}
			without := o.unrun[base+"/"+db] != ""
			if a.Error != "" {
				faults = append(faults, db+": "+a.Error)
				continue
			}
			width := columns
			if len(a.Rows) > 0 {
				width = min(width, len(a.Rows[0])) // the offer may have more columns, which keep groups apart
				if columns < len(a.Rows[0]) {
					t.Errorf("%s: the offer %s lacks columns", x.Name, x.offer)
				}
			}
			want, got := rows(a.Rows, width), rows(got, width)
			if distinct.MatchString(x.Text) {
				want, got = slices.Compact(want), slices.Compact(got)
			}
			difference := fmt.Sprintf("%s: %d rows, not %d\n  only %s: %s\n  only the offer: %s", db, len(want), len(got), db, first(minus(want, got)), first(minus(got, want)))
			switch n := limitOf(x.Text); {
			case slices.Equal(got, want) && n != len(want):
				same++
			case n == len(want) && n == len(got) && !without && !listed:
				same++
				if _, seen := o.cut[x.Name+"/"+db]; slices.Equal(got, want) || !ordered(x.Text) {
					o.cut[x.Name+"/"+db] = ""
				} else if !seen && !tied(append(minus(want, got), minus(got, want)...)) {
					o.cut[x.Name+"/"+db] = fmt.Sprintf("%s\n%s\n%s", x.Text, x.offer, difference)
				}
			case slices.Equal(got, want):
				same++
			case without:
				o.needed[base+"/"+db] = true
			default:
				seen = append(seen, difference)
			}
		}
		o.needed[base] = o.needed[base] || len(seen) > 0 || same == 0
		switch {
		case len(seen) > 0 && !listed:
			t.Errorf("seed %d: %s differs:\n%s\n%s\n%s", seed, x.Name, x.Text, x.offer, strings.Join(seen, "\n"))
		case same == 0 && !listed && !strings.HasSuffix(x.Name, withLimit):
			t.Errorf("%s is not run: list it with the reason: %s", x.Name, strings.Join(faults, "; "))
		case same > 0 && len(seen) == 0 && base == x.Name && !listed:
			ran++
		}
	}
	return ran
}

// limitOf returns the limit at the end of a text, or -1.
func limitOf(text string) int {
	n, err := strconv.Atoi(regexp.MustCompile(`[1-9]\d*`).FindString(limits.FindString(text)))
	if err != nil {
		return -1
	}
	return n
}

// ordered reports whether a text orders its rows, and not those of a window or a subselect.
func ordered(text string) bool {
	for inner := regexp.MustCompile(`\([^()]*\)`); inner.MatchString(text); {
		text = inner.ReplaceAllString(text, "")
	}
	return regexp.MustCompile(`(?i)\bORDER BY\b`).MatchString(text)
}

// tied reports whether a column has one value in all rows. So has the sort key of the rows among which a limit may choose.
func tied(rows []string) bool {
	first := strings.Split(rows[0], " | ")
	for i, v := range first {
		if !slices.ContainsFunc(rows, func(r string) bool { c := strings.Split(r, " | "); return len(c) != len(first) || c[i] != v }) {
			return true
		}
	}
	return false
}

// distinct finds a UNION that drops rows which occur twice. Its parts are queries of their own, and the caller merges them.
var distinct = regexp.MustCompile(`(?i)\bUNION\b\s*(SELECT|MATCH)`)

// first writes at most four rows.
func first(rows []string) string { return strings.Join(rows[:min(4, len(rows))], "  ") }

// minus returns the rows of a that are not in b, which are both sorted.
func minus(a, b []string) (out []string) {
	for _, r := range a {
		if i, ok := slices.BinarySearch(b, r); ok {
			b = slices.Delete(slices.Clone(b), i, i+1)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// rows joins the first columns of each row and sorts the rows.
func rows(in [][]string, columns int) (out []string) {
	for _, r := range in {
		out = append(out, strings.Join(r[:min(columns, len(r))], " | "))
	}
	slices.Sort(out)
	return out
}

// answer is the answer of a database.
type answer struct {
	Rows  [][]string `json:"rows"`
	Error string     `json:"error"`
}

// originals runs the texts on the other databases.
func originals(t *testing.T, folder string, s *catalog.Schema, d data, texts []*text) (out map[string]map[string]answer) {
	in, err := json.Marshal(map[string]any{"types": tables(s), "rows": d, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, ".venv/bin/python"), "-W", "ignore", "run.py")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// load loads the data. A node whose key has several properties gets its id from the engine.
func load(t *testing.T, graph engine.Graph, s *catalog.Schema, d data) {
	var b bytes.Buffer
	line := func(v any) {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range s.Nodes {
		for _, r := range d[n.Name] {
			properties := map[string]any{}
			for _, p := range n.Properties {
				if v := r[p.Name]; v != nil {
					properties[p.Name] = v
				}
			}
			l := map[string]any{"type": n.Name, "data": properties}
			if len(n.Key) == 0 {
				properties["id"] = r["id__"]
			}
			line(l)
		}
	}
	for _, e := range s.Edges {
		for _, r := range d[e.Name] {
			properties := map[string]any{}
			for _, p := range e.Properties {
				if v := r[p.Name]; v != nil {
					properties[p.Name] = v
				}
			}
			line(map[string]any{"edge": e.Name, "from": r["from__"], "to": r["to__"], "data": properties})
		}
	}
	if _, err := graph.Load(t.Context(), &b, engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
}

// argument draws an argument: a value of the property that the query compares with the parameter.
func argument(query string, p plan.Param, d data) any {
	if m := regexp.MustCompile(`(\w+)\)*(?:: | (?:=|!=|<|<=|>|>=|contains|starts_with|matches) )\(?(?:lower\()?\$` + p.Name + `\b`).FindStringSubmatch(query); m != nil {
		types := make([]string, 0, len(d))
		for typ := range d {
			types = append(types, typ)
		}
		slices.Sort(types)
		for _, typ := range types {
			if !strings.Contains(query, ": "+typ+" ") {
				continue
			}
			for _, r := range d[typ] {
				if v := r[m[1]]; v != nil {
					return v
				}
			}
		}
		for _, typ := range types {
			for _, r := range d[typ] {
				if v := r[m[1]]; v != nil {
					return v
				}
			}
		}
	}
	if m := regexp.MustCompile(`\$` + p.Name + ` in \$\w+\.(\w+)`).FindStringSubmatch(query); m != nil {
		for _, rows := range d {
			for _, r := range rows {
				if l, ok := r[m[1]].([]any); ok {
					return l[0]
				}
			}
		}
	}
	switch k := p.Type.Kind; {
	case k.IsNumeric():
		return 5
	case k == value.DateTime:
		return "2025-01-01T00:00:00Z"
	case k == value.Date:
		return "2025-01-01"
	}
	return "ann"
}
