package embedded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/embed"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// corpusNow is the value of now() in every call of the corpus.
var corpusNow = time.Date(2024, time.June, 1, 12, 0, 0, 0, time.UTC)

// corpusWithRows is the least share of the reads' calls that must return rows.
const corpusWithRows = 0.8

// TestCorpusAnswers runs the queries of the language's corpus, which people wrote for Omnigraph 0.8 to
// 0.10, on the data of their domain. The engine and the model must give the same answers, and the
// answers must not change. A domain has a folder with the files
//
//	schema.pg, read.gq and write.gq  the schema and the queries
//	data.ndjson                      the data; every entity has an id, so that ids order rows as they did
//	calls.txt                        one call a line: the name of a query, and its arguments as JSON
//	answers.txt                      the golden answers, in the order of the calls
func TestCorpusAnswers(t *testing.T) {
	const corpus = "../../gq/testdata/corpus"
	paths, err := filepath.Glob(corpus + "/*/schema.pg")
	if err != nil || len(paths) == 0 {
		t.Fatalf("the corpus has no schema: %v", err)
	}
	reads, withRows := 0, 0
	for _, path := range paths {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			d := openDomain(t, dir)
			var out strings.Builder
			for line := range strings.Lines(readText(t, filepath.Join(dir, "calls.txt"))) {
				name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
				q := d.queries[name]
				if q == nil {
					t.Fatalf("calls.txt calls %q, which is no query of the domain", name)
				}
				d.called[name] = true
				answer := d.call(t, q, args)
				if q.Read != nil {
					reads++
					if len(answer) > 0 {
						withRows++
					}
				}
				out.WriteString(strings.TrimSpace(line) + "\n" + strings.Join(append(answer, ""), "\n") + "\n")
			}
			for name := range d.queries {
				if !d.called[name] {
					t.Errorf("calls.txt does not call %s", name)
				}
			}
			golden.Check(t, filepath.Join(dir, "answers.txt"), []byte(out.String()))
		})
	}
	t.Logf("%d of %d calls of reads return rows", withRows, reads)
	if least := int(math.Ceil(corpusWithRows * float64(reads))); withRows < least {
		t.Errorf("%d of %d calls of reads return rows, expected at least %d", withRows, reads, least)
	}
}

// domain is one domain of the corpus, with its data in the engine and in the model.
type domain struct {
	schema   *catalog.Schema
	queries  map[string]*plan.Query
	called   map[string]bool // names of the queries that calls.txt calls
	engine   engine.Graph
	model    engine.Graph
	embedder engine.Embedder
	data     []string // the export of the data
}

// namedMock is a mock with the name of the model that a schema asks for.
type namedMock struct {
	embed.Mock
	model string
}

func (m namedMock) Model() string { return m.model }

// openDomain compiles the files of a domain and loads its data.
func openDomain(t *testing.T, dir string) *domain {
	t.Helper()
	source := func(name string) gq.Source {
		return gq.Source{Name: name, Text: readText(t, filepath.Join(dir, name))}
	}
	text := source("schema.pg")
	schema, faults := gq.CompileSchema(text)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	compiled, faults := gq.CompileQueries(schema, source("read.gq"), source("write.gq"))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	d := &domain{schema: schema, queries: map[string]*plan.Query{}, called: map[string]bool{}, embedder: namedMock{model: modelOf(schema)}}
	for _, q := range compiled {
		d.queries[q.Plan.Name] = q.Plan
	}
	g, err := embedded.OpenMemory(t.Context(), text.Text, schema, embedded.Options{Now: func() time.Time { return corpusNow }, Embedder: d.embedder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	d.engine, d.model = g, naive.New(text.Text, schema, naive.Sound)
	if _, err := g.Load(t.Context(), strings.NewReader(readText(t, filepath.Join(dir, "data.ndjson"))), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	// The model computes no vectors, so it gets the data with the vectors of the engine.
	d.data = exported(t, g, engine.Target{})
	if _, err := d.model.Load(t.Context(), strings.NewReader(strings.Join(d.data, "\n")), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	return d
}

// modelOf returns the name of the embedding model that a schema asks for, or that of the mock.
func modelOf(schema *catalog.Schema) string {
	for _, n := range schema.Nodes {
		for _, p := range n.Properties {
			if p.Embed != nil && p.Embed.Model != "" {
				return p.Embed.Model
			}
		}
	}
	return embed.MockModel
}

// call runs a call on the engine and the model, and returns the answer of the engine as lines.
func (d *domain) call(t *testing.T, q *plan.Query, text string) []string {
	t.Helper()
	args, err := arguments.Decode(json.RawMessage(text), q.Params)
	if err != nil {
		t.Fatalf("%s: %v", q.Name, err)
	}
	run := d.write
	if q.Read != nil {
		run = d.read
	}
	got, gotErr := run(t, d.engine, q, args)
	want, wantErr := run(t, d.model, d.forModel(t, q, args), args)
	if (gotErr == nil) != (wantErr == nil) {
		t.Errorf("%s %s: the engine fails with %v, the model with %v", q.Name, text, gotErr, wantErr)
	}
	if gotErr != nil {
		return []string{"fails: " + failure(gotErr)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s: the engine differs from the model (-model +engine):\n%s", q.Name, text, diff)
	}
	return got
}

// failure returns the rule that a write violates, or the type of another error.
func failure(err error) string {
	var violation *engine.ConstraintViolation
	if errors.As(err, &violation) {
		return violation.Rule
	}
	return fmt.Sprintf("%T", err)
}

// read returns the rows of a read as JSON.
func (d *domain) read(t *testing.T, g engine.Graph, q *plan.Query, args engine.Args) ([]string, error) {
	t.Helper()
	res, err := g.Query(t.Context(), q, args, engine.Target{Now: corpusNow})
	if err != nil {
		return nil, err
	}
	defer res.Close()
	rows, _, err := encoding.FirstRows(t.Context(), res, math.MaxInt, math.MaxInt)
	var lines []string
	for _, row := range rows {
		lines = append(lines, string(row))
	}
	return lines, err
}

// generatedID matches an id that a mutation generated, in an exported entity.
var generatedID = regexp.MustCompile(`"id":"[0-9A-HJKMNP-TV-Z]{26}"`)

// write runs a mutation on a branch, and returns the numbers of changed nodes and edges, the exported
// entities that it removed, and those that it added.
func (d *domain) write(t *testing.T, g engine.Graph, q *plan.Query, args engine.Args) ([]string, error) {
	t.Helper()
	const branch = "call"
	if _, err := g.CreateBranch(t.Context(), branch, engine.Target{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.DeleteBranch(context.WithoutCancel(t.Context()), branch); err != nil {
			t.Error(err)
		}
	}()
	change, err := g.Mutate(t.Context(), q, args, engine.WriteOptions{Branch: branch})
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("nodes: %d, edges: %d", change.Nodes, change.Edges)}
	after := exported(t, g, engine.Target{Branch: branch})
	for _, l := range d.data {
		if !slices.Contains(after, l) {
			lines = append(lines, "- "+l)
		}
	}
	added := len(lines)
	for _, l := range after {
		if !slices.Contains(d.data, l) {
			lines = append(lines, "+ "+generatedID.ReplaceAllString(l, `"id":"(generated)"`))
		}
	}
	slices.Sort(lines[added:]) // an export orders them by the generated ids
	return lines, nil
}

// exported returns the lines of an export.
func exported(t *testing.T, g engine.Graph, at engine.Target) []string {
	t.Helper()
	var out bytes.Buffer
	if _, err := g.Export(t.Context(), &out, at, engine.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// readText returns the text of a file.
func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// forModel returns a query in which literals stand for what the model cannot compute: the vectors of
// texts, and the instant of a mutation.
func (d *domain) forModel(t *testing.T, q *plan.Query, args engine.Args) *plan.Query {
	t.Helper()
	out := *q
	if q.Read != nil {
		read := *q.Read
		read.Columns, read.Order = slices.Clone(read.Columns), slices.Clone(read.Order)
		for i := range read.Columns {
			read.Columns[i].Expr = d.ranking(t, read.Columns[i].Expr, args)
		}
		for i := range read.Order {
			read.Order[i].Expr = d.ranking(t, read.Order[i].Expr, args)
		}
		out.Read = &read
		return &out
	}
	mutation := *q.Mutation
	mutation.Statements = slices.Clone(mutation.Statements)
	for i, s := range mutation.Statements {
		switch s := s.(type) {
		case plan.Insert:
			s.Set = d.assigned(t, s.Type, s.Set, args)
			mutation.Statements[i] = s
		case plan.Update:
			s.Set = d.assigned(t, s.Type, s.Set, args)
			mutation.Statements[i] = s
		}
	}
	out.Mutation = &mutation
	return &out
}

// ranking returns an expression in which vectors stand for the texts that nearest compares.
func (d *domain) ranking(t *testing.T, e plan.Expr, args engine.Args) plan.Expr {
	t.Helper()
	switch e := e.(type) {
	case plan.RRF:
		e.First, e.Second = d.ranking(t, e.First, args), d.ranking(t, e.Second, args)
		return e
	case plan.Nearest:
		e.Vector = d.vector(t, e.Vector, e.Prop.Type, args)
		return e
	}
	return e
}

// assigned returns assignments to a node of a type, with those of the vectors of the assigned texts.
func (d *domain) assigned(t *testing.T, typ string, set []plan.Assign, args engine.Args) []plan.Assign {
	t.Helper()
	set = slices.Clone(set)
	for i := range set {
		if _, ok := set[i].Value.(plan.Now); ok {
			set[i].Value = plan.Lit{Value: value.OfDateTime(value.DateTimeOf(corpusNow))}
		}
	}
	n := d.schema.Node(typ)
	if n == nil {
		return set
	}
	to := func(name string) int {
		return slices.IndexFunc(set, func(a plan.Assign) bool { return a.Name == name })
	}
	for _, p := range n.Properties {
		if p.Embed == nil || to(p.Name) >= 0 {
			continue
		}
		if i := to(p.Embed.Source); i >= 0 {
			set = append(set, plan.Assign{Name: p.Name, Type: p.Type, Value: d.vector(t, set[i].Value, p.Type, args)})
		}
	}
	return set
}

// vector returns the literal vector of an operand that is a text, and every other operand as it is.
func (d *domain) vector(t *testing.T, e plan.Expr, typ value.Type, args engine.Args) plan.Expr {
	t.Helper()
	var v value.Value
	switch e := e.(type) {
	case plan.Lit:
		v = e.Value
	case plan.ParamRef:
		v = args[e.Index]
	}
	if v.Kind() != value.String || v.IsNull() {
		return e
	}
	vectors, err := d.embedder.Embed(t.Context(), []string{v.Str()}, typ.Dim)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Lit{Value: value.OfVector(vectors[0])}
}
