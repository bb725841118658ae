package social_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

func small(t *testing.T, seed uint64) *social.Graph {
	t.Helper()
	g, err := social.New(0.002, seed)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func ndjson(t *testing.T, g *social.Graph) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := g.WriteNDJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSameSeedSameGraph(t *testing.T) {
	one := ndjson(t, small(t, 7))
	if !bytes.Equal(one, ndjson(t, small(t, 7))) {
		t.Error("the same size and seed give different graphs")
	}
	if bytes.Equal(one, ndjson(t, small(t, 8))) {
		t.Error("the seed changes nothing")
	}
	if got, want := bytes.Count(one, []byte{'\n'}), small(t, 7).Rows(); got != want {
		t.Errorf("%d lines, Rows says %d", got, want)
	}
}

// TestScatteredKeys checks the scattered keys: they must be distinct, have no order, differ between seeds,
// and have ids with their order.
func TestScatteredKeys(t *testing.T) {
	g, other := small(t, 7), small(t, 8)
	g.Keys, other.Keys = social.Scattered, social.Scattered
	for _, c := range []struct {
		name string
		n    int
		slug func(g *social.Graph, i int) string
		ids  []int
	}{
		{"persons", g.Persons, (*social.Graph).PersonSlug, g.PersonIDs()},
		{"companies", g.Companies, (*social.Graph).CompanySlug, g.CompanyIDs()},
		{"posts", g.Posts, (*social.Graph).PostSlug, nil},
	} {
		sorted, ascending := make([]string, c.n), 0
		for i := range c.n {
			sorted[i] = c.slug(g, i)
			if len(sorted[i]) != 13 || sorted[i] == c.slug(other, i) {
				t.Errorf("%s: the key %q, with another seed %q", c.name, sorted[i], c.slug(other, i))
			}
			if i > 0 && sorted[i] > sorted[i-1] {
				ascending++
			}
		}
		if c.n > 50 && (ascending < c.n/3 || ascending > c.n*2/3) {
			t.Errorf("%s: %d of %d keys are greater than the one before", c.name, ascending, c.n)
		}
		slices.Sort(sorted)
		if n := len(slices.Compact(slices.Clone(sorted))); n != c.n {
			t.Errorf("%s: %d different keys, want %d", c.name, n, c.n)
		}
		for i, id := range c.ids {
			if sorted[id] != c.slug(g, i) {
				t.Errorf("%s: key %q has id %d, which is the rank of %q", c.name, c.slug(g, i), id, sorted[id])
			}
		}
	}
	for i, id := range small(t, 7).PersonIDs() {
		if i != id {
			t.Errorf("the serial key of person %d has id %d", i, id)
		}
	}
	var keys social.Keys
	if err := keys.Set("random"); err == nil || !strings.Contains(err.Error(), "serial or scattered") {
		t.Errorf("unknown keys: %v", err)
	}
}

func TestBadFactor(t *testing.T) {
	for _, factor := range []float64{0, -1, 101} {
		if _, err := social.New(factor, 1); err == nil {
			t.Errorf("a factor of %v is taken", factor)
		}
	}
}

func TestKnows(t *testing.T) {
	g, err := social.New(0.1, 42)
	if err != nil {
		t.Fatal(err)
	}
	out, in, pairs := make([]int, g.Persons), make([]int, g.Persons), make(map[social.Edge]bool)
	for k := range g.Acquaintances() {
		if k.From == k.To || pairs[k.Edge] {
			t.Fatalf("the pair %v occurs twice, or joins a person with itself", k.Edge)
		}
		pairs[k.Edge] = true
		out[k.From]++
		in[k.To]++
	}
	if len(pairs) != g.Knows {
		t.Errorf("%d pairs, want %d", len(pairs), g.Knows)
	}
	for name, degrees := range map[string][]int{"out": out, "in": in} {
		most := 0
		for _, d := range degrees {
			most = max(most, d)
		}
		if mean := g.Knows / g.Persons; most < 20*mean {
			t.Errorf("the greatest %s-degree is %d and the mean is %d, which is not a power law", name, most, mean)
		}
	}
}

// TestWords checks that text indexes with and without stemming see the same words.
func TestWords(t *testing.T) {
	seen := make(map[string]bool)
	for rank := range 5_000 {
		w := social.Word(rank)
		if seen[w] {
			t.Errorf("%s comes twice", w)
		}
		seen[w] = true
		if tokens := tokenizer.AppendTokens(nil, w); len(tokens) != 1 || tokens[0] != w {
			t.Errorf("%s has the tokens %q", w, tokens)
		}
	}
}

// TestLoads loads the graph with each kind of keys, and checks that every query binds to it. Reads whose
// answers contain no keys must find the same for each person, whatever the keys are.
func TestLoads(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: social.Schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	texts, err := social.Queries()
	if err != nil {
		t.Fatal(err)
	}
	var sources []gq.Source
	for name, text := range texts {
		sources = append(sources, gq.Source{Name: name, Text: text})
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	if len(queries) != 10 {
		t.Errorf("%d queries, want 10", len(queries))
	}
	answers := map[social.Keys]string{}
	for _, keys := range []social.Keys{social.Serial, social.Scattered} {
		size := small(t, 7)
		size.Keys = keys
		g, err := embedded.Create(t.Context(), fs.NewMem(), "social", social.Schema, schema, embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		res, err := g.Load(t.Context(), strings.NewReader(string(ndjson(t, size))), engine.LoadOptions{Mode: engine.Append})
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for _, c := range append(res.Nodes, res.Edges...) {
			rows += c.Count
		}
		if rows != int64(size.Rows()) {
			t.Errorf("%d rows were loaded, want %d", rows, size.Rows())
		}
		for _, q := range queries {
			var not *engine.Unsupported
			if err := g.Bind(t.Context(), q.Plan, engine.Target{}); err != nil && !errors.As(err, &not) {
				t.Errorf("%s: %v", q.Plan.Name, err)
			}
			if name := q.Plan.Name; name == "w1" || name == "w3" || name == "w4" {
				for i := range size.Persons {
					answers[keys] += fmt.Sprintln(name, i, read(t, g, q.Plan, size.PersonSlug(i)))
				}
			}
		}
	}
	if answers[social.Serial] != answers[social.Scattered] {
		t.Errorf("with serial keys the answers are\n%s\nwith scattered keys\n%s", answers[social.Serial], answers[social.Scattered])
	}
}

// read returns the rows of a read with a key as its argument.
func read(t *testing.T, g *embedded.Graph, q *plan.Query, slug string) (rows string) {
	t.Helper()
	res, err := g.Query(t.Context(), q, engine.Args{value.OfString(slug)}, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for {
		b, err := res.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return rows
		}
		for i := range b.Len {
			for k := range b.Columns {
				rows += fmt.Sprintf("%v ", b.Columns[k].Value(i))
			}
		}
	}
}
