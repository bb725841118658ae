package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const benchDim = 64

// posts returns a schema of texts and vectors.
func posts() *catalog.Schema {
	s := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Post", Key: []string{"slug"}, Properties: []*catalog.Property{
		{Name: "slug", Type: value.Of(value.String)},
		{Name: "text", Type: value.Of(value.String).Optional()},
		{Name: "place", Type: value.Type{Kind: value.Vector, Dim: benchDim, Nullable: true}},
	}}}}
	s.Index()
	return s
}

// postsText returns NDJSON of n posts of 8 to 40 words. The words are drawn by Zipf's law from a
// vocabulary of 5,000. Every tenth post has a vector.
func postsText(r *rand.Rand, n int) string {
	zipf := rand.NewZipf(r, 1.1, 4, 4999)
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `{"type":"Post","data":{"slug":"p%06d","text":"`, i)
		for range 8 + r.IntN(33) {
			fmt.Fprintf(&s, "w%dx ", zipf.Uint64())
		}
		s.WriteString(`"`)
		if i%10 == 0 {
			s.WriteString(`,"place":[`)
			for k := range benchDim {
				if k > 0 {
					s.WriteByte(',')
				}
				fmt.Fprintf(&s, "%.4f", r.NormFloat64())
			}
			s.WriteString("]")
		}
		s.WriteString("}}\n")
	}
	return s.String()
}

func openPosts(t testing.TB, n int) *Graph {
	t.Helper()
	g, err := Create(context.Background(), fs.NewMem(), dir, "// posts", posts(), Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := loadText(g, engine.Merge, postsText(rand.New(rand.NewPCG(1, 2)), n)); err != nil {
		t.Fatal(err)
	}
	return g
}

var (
	slugOf  = plan.Prop{Var: 0, Name: "slug", Type: value.Of(value.String)}
	textOf  = plan.Prop{Var: 0, Name: "text", Type: value.Of(value.String).Optional()}
	placeOf = plan.Prop{Var: 0, Name: "place", Type: value.Type{Kind: value.Vector, Dim: benchDim, Nullable: true}}
)

// ranked returns a query for the first rows in the order of a score. The operand of the score is
// the query's parameter. If the argument `all` is true, ranked adds a condition that holds for
// every post, so that the query cannot find its rows through the score's index.
func ranked(score plan.Expr, param value.Type, limit int64, all bool) *plan.Query {
	_, distance := score.(plan.Nearest)
	q := &plan.Query{Params: []plan.Param{{Name: "q", Type: param}}, Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Type: "Post"}}, Match: []plan.Clause{plan.Bind{Var: 0}},
		Columns: []plan.Column{{Name: "slug", Expr: slugOf, Type: slugOf.Type}, {Name: "score", Expr: score, Type: value.Of(value.F64)}},
		Order:   []plan.Order{{Expr: score, Desc: !distance}}, Ties: []plan.VarID{0}, Limit: limit,
	}}
	if all {
		q.Read.Match = append(q.Read.Match, plan.Filter{Cond: plan.Compare{Op: plan.Ne, Left: slugOf, Right: plan.Lit{Value: str("")}, Unless: plan.NoParam}})
	}
	return q
}

var (
	relevanceOf = plan.BM25{Prop: textOf, Query: plan.ParamRef{Index: 0}}
	distanceOf  = plan.Nearest{Prop: placeOf, Vector: plan.ParamRef{Index: 0}}
)

func vectorOf(r *rand.Rand) value.Value {
	v := make([]float32, benchDim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return value.OfVector(v)
}

// TestTopMatchesScan compares reads that search for the best rows only with reads that score
// every row, also after writes that leave dead documents and newer indexes.
func TestTopMatchesScan(t *testing.T) {
	slow.Test(t)
	g := openPosts(t, 5000)
	r := rand.New(rand.NewPCG(3, 4))
	compare := func(when string) {
		t.Helper()
		for range 40 {
			words := ""
			for range 1 + r.IntN(4) {
				words += fmt.Sprintf("w%dx ", r.IntN(60)*r.IntN(20))
			}
			limit := int64(1 + r.IntN(30))
			for _, c := range []struct {
				score plan.Expr
				arg   value.Value
			}{{relevanceOf, str(words)}, {distanceOf, vectorOf(r)}} {
				typ := c.arg.Type()
				fast, slow := rowsText(t, g, ranked(c.score, typ, limit, false), c.arg), rowsText(t, g, ranked(c.score, typ, limit, true), c.arg)
				if fast != slow {
					t.Fatalf("%s, limit %d of %s:\n%s\nwant\n%s", when, limit, words, fast, slow)
				}
				if fast == "" && typ.Kind == value.Vector {
					t.Fatal("no row is near")
				}
			}
		}
	}
	compare("after the load")
	for i := range 12 {
		var s strings.Builder
		for range 1 + r.IntN(400) {
			fmt.Fprintf(&s, `{"type":"Post","data":{"slug":"p%06d","text":"w%dx w1x w%dx","place":%s}}`+"\n", r.IntN(6000), r.IntN(50), r.IntN(1000), strings.ReplaceAll(fmt.Sprint(vectorOf(r).Vector()), " ", ","))
		}
		if err := loadText(g, engine.Merge, uniqueLines(s.String())); err != nil {
			t.Fatal(err)
		}
		compare(fmt.Sprintf("after load %d", i))
	}
}

// uniqueLines drops each line with a key that has occurred before.
func uniqueLines(text string) string {
	seen := map[string]bool{}
	var kept []string
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(line, `","text`)
		if !seen[key] {
			kept = append(kept, line)
		}
		seen[key] = true
	}
	return strings.Join(kept, "")
}

func rowsText(t testing.TB, g *Graph, q *plan.Query, args ...value.Value) string {
	t.Helper()
	ctx := context.Background()
	res, err := g.Query(ctx, q, args, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	var s strings.Builder
	for {
		b, err := res.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return s.String()
		}
		for i := range b.Len {
			for c := range b.Columns {
				if v := b.Columns[c].Value(i); v.Kind() == value.Vector {
					fmt.Fprint(&s, v.Vector(), " ")
				} else {
					s.WriteString(value.Text(v) + " ")
				}
			}
			s.WriteByte('\n')
		}
	}
}

func BenchmarkRank(b *testing.B) {
	g := openPosts(b, 200_000)
	r := rand.New(rand.NewPCG(5, 6))
	run := func(name string, q *plan.Query, arg func() value.Value) {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			args := make([]engine.Args, 256)
			for i := range args {
				args[i] = engine.Args{arg()}
			}
			rowsText(b, g, q, args[0]...)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				res, err := g.Query(ctx, q, args[i%len(args)], engine.Target{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := drain(ctx, res); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	words := func(n int) func() value.Value {
		zipf := rand.NewZipf(r, 1.1, 4, 4999)
		return func() value.Value {
			s := ""
			for range n {
				s += fmt.Sprintf("w%dx ", zipf.Uint64())
			}
			return str(s)
		}
	}
	text := value.Of(value.String)
	run("bm25 of 1", ranked(relevanceOf, text, 10, false), words(1))
	run("bm25 of 2", ranked(relevanceOf, text, 10, false), words(2))
	run("bm25 of 3", ranked(relevanceOf, text, 10, false), words(3))
	run("bm25 of 3, filtered", ranked(relevanceOf, text, 10, true), words(3))
	run("nearest", ranked(distanceOf, placeOf.Type.Required(), 10, false), func() value.Value { return vectorOf(r) })
	search := &plan.Query{Params: []plan.Param{{Name: "q", Type: text}}, Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Type: "Post"}}, Match: []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.TextMatch{Kind: plan.Search, Prop: textOf, Query: plan.ParamRef{Index: 0}}}},
		Columns: []plan.Column{{Name: "slug", Expr: slugOf, Type: slugOf.Type}}, Ties: []plan.VarID{0}, Limit: 10}}
	run("search", search, words(2))
	fuzzy, phrase := *search, *search
	fuzzy.Read, phrase.Read = withKind(search.Read, plan.Fuzzy), withKind(search.Read, plan.Phrase)
	run("fuzzy", &fuzzy, words(1))
	run("phrase", &phrase, words(2))
}

func withKind(r *plan.Read, k plan.TextKind) *plan.Read {
	out := *r
	f := r.Match[1].(plan.Filter)
	m := f.Cond.(plan.TextMatch)
	m.Kind = k
	out.Match = []plan.Clause{r.Match[0], plan.Filter{Cond: m}}
	return &out
}

// TestFirstUseBuildsOnce searches from many goroutines while posts are written. Only one of them
// may build the indexes of a state.
func TestFirstUseBuildsOnce(t *testing.T) {
	g := openPosts(t, 2000)
	q := ranked(relevanceOf, value.Of(value.String), 5, false)
	for i := range 6 {
		table := g.branches.main.head.Load().snap.Nodes(0)
		views := make([]*textindex.View, 8)
		var all sync.WaitGroup
		for k := range views {
			all.Go(func() {
				views[k] = table.Text(1)
				if rows := rowsText(t, g, q, str("w1x w2x")); strings.Count(rows, "\n") != 5 {
					t.Errorf("rows are %q", rows)
				}
			})
		}
		line := fmt.Sprintf(`{"type":"Post","data":{"slug":"x%d","text":"w1x"}}`, i)
		if err := loadText(g, engine.Merge, line); err != nil {
			t.Error(err)
		}
		all.Wait()
		for _, v := range views {
			if v != views[0] || v.Documents() != uint64(2000+i) {
				t.Fatalf("views %p and %p, of %d texts", v, views[0], v.Documents())
			}
		}
	}
}
