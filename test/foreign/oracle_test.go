// Package foreign_test runs the texts of other languages beside the queries that the errors offer for them.
package foreign_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
)

const sets = "../../gq/testdata/"

// text is a text of another language, and what the server offers for it.
type text struct {
	Name     string         `json:"name"`
	Language string         `json:"language"`
	Text     string         `json:"text"`
	Params   map[string]any `json:"params"`
	original string
	offer    string
	offers   []*gq.Query
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
	limit  = regexp.MustCompile(`\s+limit \d+\s*\}$`)
)

// TestOffers runs each read of the six blind sets, in SQL or Cypher, beside its offer, and compares the rows. A text in a
// mixture of languages is run as readings.txt says it in one. unrun.txt lists each read with an offer that is not run, with the reason.
func TestOffers(t *testing.T) {
	folder := os.Getenv("OMNIGRAPH_TEST_FOREIGN")
	if folder == "" {
		t.Skip("make test-foreign installs what this test needs")
	}
	unrun, changes := lines(t, "unrun.txt"), lines(t, "changes.txt")
	_, readings := blocks(t, "readings.txt")
	all, offered, run := 0, 0, 0 // of the blind sets
	for _, set := range []struct{ folder, schema string }{
		{"hostile", "corpus/library"}, {"blind", "corpus/shop"}, {"blind2", "corpus/lab"}, {"blind3", "corpus/incidents"},
		{"blind4", "corpus/library"}, {"blind5", "corpus/logistics"}, {"blind6", "foreign/blind6"},
	} {
		t.Run(set.folder, func(t *testing.T) {
			s, source := schemaOf(t, sets+set.schema)
			var texts []*text
			for _, language := range []string{"sql", "cypher"} {
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
					if from, to, ok := strings.Cut(changes[x.Name], " => "); ok {
						if !strings.Contains(x.original, from) {
							t.Errorf("changes.txt: %s does not contain %q", x.Name, from)
						}
						x.original, x.Text = strings.ReplaceAll(x.original, from, to), strings.ReplaceAll(x.Text, from, to)
					}
					if !x.offered(t, s) {
						if unrun[x.Name] != "" {
							t.Errorf("%s has no offer: take it out of unrun.txt", x.Name)
						}
						t.Logf("%s has no offer", x.Name)
						continue
					}
					if blind {
						offered++
					}
					reason := unrun[x.Name]
					if reason == "" && !pure.MatchString(x.Text) {
						t.Errorf("%s mixes languages: say it in one in readings.txt", x.Name)
						continue
					}
					if reason == "" || pure.MatchString(x.Text) {
						texts = append(texts, x)
					}
				}
			}
			cut := map[string]string{} // by name of a text with a limit: how its first rows differ, or "" if they do not
			for seed := range shapes {
				ran := compare(t, folder, s, source, texts, unrun, cut, seed)
				if seed == 0 && set.folder != "hostile" {
					run += ran
				}
			}
			for name, differs := range cut {
				if differs != "" {
					t.Errorf("%s: the first rows differ on all data, which equal sort keys do not explain:\n%s", name, differs)
				}
			}
		})
	}
	t.Logf("%d reads, %d with an offer, %d of them run", all, offered, run)
	if run*10 < all*7 {
		t.Errorf("%d of %d reads are run, want 70 %%", run, all)
	}
}

// schemaOf compiles the schema of a folder without vectors, which need a model.
func schemaOf(t *testing.T, folder string) (*catalog.Schema, string) {
	b, err := os.ReadFile(folder + "/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`(?m)^\s*\w+: Vector.*\n`).ReplaceAllString(string(b), "")
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

// compare runs texts and their offers on data, and returns how many gave the same rows. A text with a limit is also run without it. With
// the limit, rows with equal sort keys may differ, so cut notes how the rows differ, unless they are equal on some data.
func compare(t *testing.T, folder string, s *catalog.Schema, source string, texts []*text, unrun, cut map[string]string, seed int) (ran int) {
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
				x.Params[p.Name] = argument(x.offer, p, d)
			}
		}
		runs = append(runs, x)
		if limits.MatchString(x.Text) {
			y := *x
			y.Name, y.Text, y.offer = x.Name+" without its limit", limits.ReplaceAllString(x.Text, ""), limit.ReplaceAllString(x.offer, " }")
			if y.offers, _ = gq.CompileQueries(s, gq.Source{Name: "query", Text: y.offer}); y.offer == x.offer || len(y.offers) == 0 {
				t.Fatalf("%s: the limit of %s is not at its end", x.Name, x.offer)
			}
			runs = append(runs, &y)
		}
	}
	answers := originals(t, folder, s, d, runs)
	for _, x := range runs {
		base := strings.TrimSuffix(x.Name, " without its limit")
		got, columns := x.rows(t, graph)
		var seen, faults []string
		same := 0
		for _, db := range []string{"sqlite", "duckdb", "ladybug"} {
			a, ok := answers[x.Name][db]
			if !ok || unrun[base+"/"+db] != "" {
				continue
			}
			if a.Error != "" {
				faults = append(faults, db+": "+a.Error)
				continue
			}
			width := columns
			if len(a.Rows) > 0 {
				width = min(width, len(a.Rows[0])) // the offer may have more columns, which keep groups apart
			}
			want, got := rows(a.Rows, width), rows(got, width)
			if distinct.MatchString(x.Text) {
				want, got = slices.Compact(want), slices.Compact(got)
			}
			if base == x.Name && limits.MatchString(x.Text) && len(got) == len(want) {
				same++
				if _, seen := cut[base+"/"+db]; slices.Equal(got, want) || !ordered.MatchString(x.Text) {
					cut[base+"/"+db] = ""
				} else if !seen {
					cut[base+"/"+db] = fmt.Sprintf("%s\n%s\n  only %s: %s\n  only the offer: %s", x.Text, x.offer, db, first(minus(want, got)), first(minus(got, want)))
				}
				continue
			}
			if slices.Equal(got, want) {
				same++
				continue
			}
			seen = append(seen, fmt.Sprintf("%s: %d rows, not %d\n  only %s: %s\n  only the offer: %s", db, len(want), len(got), db, first(minus(want, got)), first(minus(got, want))))
		}
		switch listed := unrun[base] != ""; {
		case len(seen) > 0 && !listed:
			t.Errorf("seed %d: %s differs:\n%s\n%s\n%s", seed, x.Name, x.Text, x.offer, strings.Join(seen, "\n"))
		case same == 0 && !listed:
			t.Errorf("%s is not run: list it with the reason: %s", x.Name, strings.Join(faults, "; "))
		case same > 0 && len(seen) == 0:
			if base == x.Name && !listed {
				ran++
			}
			if len(got) == 0 && seed == 0 {
				t.Logf("%s has no rows", x.Name)
			}
		}
	}
	return ran
}

// ordered finds an order.
var ordered = regexp.MustCompile(`(?i)\bORDER BY\b`)

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
	if _, err := graph.Load(t.Context(), &b, engine.LoadOptions{}); err != nil {
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

// rows runs the offers, and returns their rows and the least number of columns.
func (x *text) rows(t *testing.T, graph engine.Graph) (all [][]string, columns int) {
	columns = 1 << 10
	for _, q := range x.offers {
		params := map[string]any{}
		for _, p := range q.Plan.Params {
			params[p.Name] = x.Params[p.Name]
		}
		raw, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		args, err := arguments.Decode(raw, q.Plan.Params)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		visible := len(q.Plan.Read.Columns)
		columns = min(columns, visible)
		more, err := read(t.Context(), graph, q.Plan, args)
		if err != nil {
			t.Errorf("%s: %s: %v", x.Name, x.offer, err)
		}
		all = append(all, more...)
	}
	return all, columns
}

// read runs a query, and returns its rows.
func read(ctx context.Context, graph engine.Graph, q *plan.Query, args engine.Args) (rows [][]string, err error) {
	res, err := graph.Query(ctx, q, args, engine.Target{})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, res.Close()) }()
	for {
		b, err := res.Next(ctx)
		if err != nil || b == nil {
			return rows, err
		}
		for i := range b.Len {
			var r []string
			for k, c := range q.Read.Columns {
				_, whole := c.Expr.(plan.Whole)
				r = append(r, cell(&b.Columns[k], c.Type, c.Fields, i, whole))
			}
			rows = append(rows, r)
		}
	}
}

// cell writes a value as run.py does. A record with one field is its value.
func cell(c *engine.Column, typ value.Type, fields []plan.Field, i int, whole bool) string {
	switch {
	case fields == nil:
		return scalar(c.Value(i))
	case typ.List:
		var out []string
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			out = append(out, record(c, fields, int(k), whole))
		}
		slices.Sort(out)
		return "[" + strings.Join(out, ", ") + "]"
	case c.IsNull(i):
		return "null"
	}
	return record(c, fields, i, whole)
}

func record(c *engine.Column, fields []plan.Field, i int, whole bool) string {
	var out []string
	for f, field := range fields {
		if whole && field.Name == "id" && f == 0 {
			continue
		}
		v := cell(&c.Fields[f], field.Type, field.Fields, i, false)
		if len(fields) == 1 {
			return v
		}
		if v != "null" {
			out = append(out, field.Name+": "+v)
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, ", ") + "}"
}

func scalar(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		var out []string
		for _, e := range v.Elems() {
			out = append(out, scalar(e))
		}
		slices.Sort(out)
		return "[" + strings.Join(out, ", ") + "]"
	case v.Kind() == value.String:
		return "'" + v.Str() + "'"
	case v.Kind() == value.Bool:
		return map[bool]string{true: "1", false: "0"}[v.Bool()]
	case v.Kind() == value.Date:
		return value.DateValue(v.Int()).String()
	case v.Kind() == value.DateTime:
		s := value.DateTimeValue(v.Int()).Time().UTC().Format("2006-01-02T15:04:05")
		return strings.TrimSuffix(s, "T00:00:00")
	case v.Kind().IsFloat():
		return number9(v.Float())
	case v.Kind() == value.U32, v.Kind() == value.U64:
		return number9(float64(v.Uint()))
	}
	return number9(float64(v.Int()))
}

func number9(f float64) string {
	if f == 0 {
		return "0"
	}
	return strings.ReplaceAll(fmt.Sprintf("%.9g", f), "e+0", "e+0")
}
