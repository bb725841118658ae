package embedded_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const docSchema = `
node Doc {
  slug: String @key
  part: I32
  place: Vector(%d)? @ann
}
`

const docQueries = `
query near($q: Vector(%[1]d)) {
  match { $d: Doc }
  return { $d.slug as slug, nearest($d.place, $q) as distance }
  order { distance }
  limit 10
}
query one($q: Vector(%[1]d)) {
  match { $d: Doc  $d.part = 7 }
  return { $d.slug as slug, nearest($d.place, $q) as distance }
  order { distance }
  limit 10
}
query half($q: Vector(%[1]d)) {
  match { $d: Doc  $d.part < 50 }
  return { $d.slug as slug, nearest($d.place, $q) as distance }
  order { distance }
  limit 10
}
query leave($slug: String) { delete Doc where slug = $slug }
`

// doc is one document of the model.
type doc struct {
	part  int
	place []float32 // nil for null
}

// docs is a graph of documents with an approximate index, and a model of each branch.
type docs struct {
	t       testing.TB
	ctx     context.Context
	rng     *rand.Rand
	fs      fs.FS
	dim     int
	centres [][]float32
	schema  *catalog.Schema
	queries map[string]*plan.Query
	opts    embedded.Options
	g       *embedded.Graph
	models  map[string]map[string]doc
	made    int
}

// newDocs creates a graph without documents. Documents that are added later have vectors around the
// given number of centres. If it is 0, each vector has a random direction.
func newDocs(t testing.TB, dim, centres int) *docs {
	t.Helper()
	d := &docs{t: t, ctx: context.Background(), rng: rand.New(rand.NewPCG(21, 22)), fs: fs.NewMem(), dim: dim,
		queries: map[string]*plan.Query{}, models: map[string]map[string]doc{"main": {}}, opts: embedded.Options{}.Quiet()}
	if _, measured := t.(*testing.B); !measured {
		t.Cleanup(embedded.PreferGraphs())
	}
	source := fmt.Sprintf(docSchema, dim)
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "queries.gq", Text: fmt.Sprintf(docQueries, dim)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		d.queries[q.Plan.Name] = q.Plan
	}
	for range centres {
		d.centres = append(d.centres, d.draw(nil, 1))
	}
	g, err := embedded.Create(d.ctx, d.fs, "graph", source, schema, d.opts)
	if err != nil {
		t.Fatal(err)
	}
	d.g, d.schema = g, schema
	t.Cleanup(func() { d.g.Close() })
	return d
}

func (d *docs) draw(centre []float32, spread float64) []float32 {
	v := make([]float32, d.dim)
	for i := range v {
		v[i] = float32(d.rng.NormFloat64() * spread)
		if centre != nil {
			v[i] += centre[i]
		}
	}
	return v
}

func (d *docs) vector() []float32 {
	if len(d.centres) == 0 {
		return d.draw(nil, 1)
	}
	return d.draw(d.centres[d.rng.IntN(len(d.centres))], 0.4)
}

// put writes documents with new vectors. One in fifty vectors is null.
func (d *docs) put(branch string, slugs []string) {
	d.t.Helper()
	var s strings.Builder
	for _, slug := range slugs {
		x := doc{part: d.rng.IntN(100)}
		fmt.Fprintf(&s, `{"type":"Doc","data":{"slug":%q,"part":%d`, slug, x.part)
		if d.rng.IntN(50) > 0 {
			x.place = d.vector()
			s.WriteString(`,"place":[`)
			for i, c := range x.place {
				if i > 0 {
					s.WriteByte(',')
				}
				fmt.Fprintf(&s, "%g", c)
			}
			s.WriteByte(']')
		}
		s.WriteString("}}\n")
		d.models[branch][slug] = x
	}
	if _, err := d.g.Load(d.ctx, strings.NewReader(s.String()), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
		d.t.Fatal(err)
	}
}

// insert writes n new documents.
func (d *docs) insert(branch string, n int) {
	d.t.Helper()
	slugs := make([]string, n)
	for i := range slugs {
		slugs[i] = fmt.Sprintf("d%07d", d.made)
		d.made++
	}
	d.put(branch, slugs)
}

// some returns n documents of a branch.
func (d *docs) some(branch string, n int) []string {
	var all []string
	for slug := range d.models[branch] {
		all = append(all, slug)
	}
	slices.Sort(all)
	d.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// remove deletes n documents.
func (d *docs) remove(branch string, n int) {
	d.t.Helper()
	for _, slug := range d.some(branch, n) {
		delete(d.models[branch], slug)
		if _, err := d.g.Mutate(d.ctx, d.queries["leave"], engine.Args{value.OfString(slug)}, engine.WriteOptions{Branch: branch}); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *docs) build() {
	d.t.Helper()
	if err := d.g.BuildVectors(d.ctx); err != nil {
		d.t.Fatal(err)
	}
}

// reopen closes the graph, which stores its indexes, and opens it again.
func (d *docs) reopen() {
	d.t.Helper()
	if err := d.g.Close(); err != nil {
		d.t.Fatal(err)
	}
	g, err := embedded.Open(d.ctx, d.fs, "graph", d.opts)
	if err != nil {
		d.t.Fatal(err)
	}
	d.g = g
}

// distance computes the distance that the language defines, with the same operations as the engine.
func distance(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return 1 - dot/(math.Sqrt(aa)*math.Sqrt(bb))
}

// found is a row of an answer.
type found struct {
	slug     string
	distance float64
}

func (d *docs) ask(branch, query string, q []float32) (rows []found) {
	d.t.Helper()
	r, err := d.g.Query(d.ctx, d.queries[query], engine.Args{value.OfVector(q)}, engine.Target{Branch: branch})
	if err != nil {
		d.t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(d.ctx)
		if err != nil {
			d.t.Fatal(err)
		}
		if b == nil {
			return rows
		}
		for i := range b.Len {
			rows = append(rows, found{strings.Clone(b.Columns[0].Value(i).Str()), b.Columns[1].Value(i).Float()})
		}
	}
}

// recall runs n queries and returns the share of the ten nearest documents that the answers
// contain. It fails the test unless each answer has ten rows with exact distances in ascending
// order.
func (d *docs) recall(branch, query string, n int) float64 {
	d.t.Helper()
	keep := map[string]func(doc) bool{
		"near": func(doc) bool { return true },
		"one":  func(x doc) bool { return x.part == 7 },
		"half": func(x doc) bool { return x.part < 50 },
	}[query]
	hits := 0
	for range n {
		q := d.vector()
		var want []float64
		for _, x := range d.models[branch] {
			if x.place != nil && keep(x) {
				want = append(want, distance(x.place, q))
			}
		}
		slices.Sort(want)
		rows := d.ask(branch, query, q)
		if len(rows) != 10 {
			d.t.Fatalf("%s on %s: %d rows, expected 10", query, branch, len(rows))
		}
		for i, row := range rows {
			x, ok := d.models[branch][row.slug]
			if !ok || x.place == nil || !keep(x) {
				d.t.Fatalf("%s on %s: row %s does not belong to the answer", query, branch, row.slug)
			}
			if math.Abs(row.distance-distance(x.place, q)) > 1e-12 || i > 0 && row.distance < rows[i-1].distance {
				d.t.Fatalf("%s on %s: row %d has distance %g", query, branch, i, row.distance)
			}
			if row.distance <= want[9]+1e-12 {
				hits++
			}
		}
	}
	return float64(hits) / float64(10*n)
}

// check fails the test if the answers on a branch miss too many documents. The argument `least` is
// the lowest allowed recall.
func (d *docs) check(when, branch string, least float64) {
	d.t.Helper()
	for _, query := range []string{"near", "one", "half"} {
		want := least
		if query == "one" {
			want = 1 // few documents pass, and all of them are compared
		}
		if got := d.recall(branch, query, 40); got < want {
			d.t.Errorf("%s, on %s: recall of %s is %.4f, expected at least %g", when, branch, query, got, want)
		}
	}
}

// TestApproximateRecall compares answers from an approximate index with a scan of a model, in every
// state that an index can be in. With -embedded.long there are more and longer vectors.
func TestApproximateRecall(t *testing.T) {
	for _, c := range []struct {
		name    string
		centres int
	}{{"clustered", 60}, {"random", 0}} {
		t.Run(c.name, func(t *testing.T) {
			n, dim := 5_000, 32
			if long() {
				n, dim = 10_000, 64
			}
			d := newDocs(t, dim, c.centres)
			d.insert("main", n)
			d.check("before the build", "main", 1)
			if nodes, _, _ := d.g.VectorIndex("main", 2); nodes >= 0 {
				t.Fatalf("there is an index of %d nodes before the build", nodes)
			}
			d.build()
			nodes, breadth, later := d.g.VectorIndex("main", 2)
			if nodes < n*9/10 || breadth <= 0 || later != 0 {
				t.Fatalf("the index has %d nodes, breadth %d, and lacks %d vectors", nodes, breadth, later)
			}
			d.check("after the build", "main", 0.97)
			d.insert("main", 200)
			d.put("main", d.some("main", 200))
			d.remove("main", 200)
			if now, _, later := d.g.VectorIndex("main", 2); now != nodes || later < 300 {
				t.Errorf("after writes the index has %d nodes and lacks %d vectors", now, later)
			}
			d.check("after writes", "main", 0.97)
			if _, err := d.g.CreateBranch(d.ctx, "side", engine.Target{}); err != nil {
				t.Fatal(err)
			}
			d.models["side"] = map[string]doc{}
			for slug, x := range d.models["main"] {
				d.models["side"][slug] = x
			}
			d.put("side", d.some("side", 200))
			d.insert("side", 50)
			d.insert("main", 1200)
			d.check("after writes to both", "side", 0.97)
			if err := d.g.Checkpoint(d.ctx); err != nil {
				t.Fatal(err)
			}
			d.build()
			if now, _, later := d.g.VectorIndex("main", 2); now < nodes+1000 || later > 100 {
				t.Errorf("the extended index has %d nodes and lacks %d vectors", now, later)
			}
			d.check("after a checkpoint and another build", "main", 0.97)
			d.check("after a checkpoint and another build", "side", 0.97)
			nodes, breadth, _ = d.g.VectorIndex("main", 2)
			d.reopen()
			if now, width, _ := d.g.VectorIndex("main", 2); now != nodes || width != breadth {
				t.Errorf("the stored index has %d nodes and breadth %d, expected %d and %d", now, width, nodes, breadth)
			}
			d.check("after opening the graph again", "main", 0.97)
			d.check("after opening the graph again", "side", 0.97)
			if err := d.g.Verify(d.ctx); err != nil {
				t.Error(err)
			}
			d.insert("main", 100)
			d.remove("side", 100)
			d.reopen()
			d.check("after writes to a stored index", "main", 0.97)
			d.check("after writes to a stored index", "side", 0.97)
			if err := d.g.Verify(d.ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestApproximateBackground reads and writes while indexes are built in the background.
func TestApproximateBackground(t *testing.T) {
	d := newDocs(t, 16, 30)
	if err := d.g.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Open(d.ctx, d.fs, "graph", embedded.Options{CheckpointBytes: 1 << 18})
	if err != nil {
		t.Fatal(err)
	}
	d.g = g
	d.insert("main", 4200)
	ctx, stop := context.WithCancel(d.ctx)
	var readers sync.WaitGroup
	for k := range 2 {
		rng := rand.New(rand.NewPCG(uint64(k), 5))
		readers.Go(func() {
			for ctx.Err() == nil {
				q := make([]float32, d.dim)
				for i := range q {
					q[i] = float32(rng.NormFloat64())
				}
				for _, query := range []string{"near", "half"} {
					if rows := d.ask("main", query, q); len(rows) != 10 {
						t.Errorf("%s: %d rows, expected 10", query, len(rows))
						return
					}
				}
			}
		})
	}
	for i := 0; ; i++ {
		if i < 100 {
			d.insert("main", 50)
		} else {
			time.Sleep(100 * time.Millisecond) // a busy machine needs time for the build
		}
		d.put("main", d.some("main", 20))
		if nodes, _, _ := d.g.VectorIndex("main", 2); nodes > 5000 {
			break
		}
		if i == 3000 {
			t.Error("no index with more than 5,000 nodes was built")
			break
		}
	}
	stop()
	readers.Wait()
	d.check("after builds in the background", "main", 0.97)
}

func TestApproximateExplain(t *testing.T) {
	d := newDocs(t, 4, 0)
	d.insert("main", 50)
	for query, want := range map[string]string{"near": "top", "half": "nearest"} {
		x, err := d.g.Explain(d.ctx, d.queries[query], engine.Args{value.OfVector(d.vector())}, engine.Target{}, true)
		if err != nil {
			t.Fatal(err)
		}
		var found func(op *engine.Operator) bool
		found = func(op *engine.Operator) bool {
			return op.Name == want && strings.Contains(op.Detail, "approximate: the index of place may miss some of the closest") ||
				slices.ContainsFunc(op.Children, found)
		}
		if !slices.ContainsFunc(x.Plan, found) {
			t.Errorf("%s: no operator %s says that it is approximate: %+v", query, want, x.Plan)
		}
	}
}

// TestApproximateSchemaChange adds and removes @ann by schema changes. They must not change any
// row, and reads must use or ignore the index accordingly.
func TestApproximateSchemaChange(t *testing.T) {
	d := newDocs(t, 8, 10)
	d.insert("main", 4200)
	d.build()
	nodes, _, _ := d.g.VectorIndex("main", 2)
	apply := func(ann string) {
		t.Helper()
		source := strings.ReplaceAll(fmt.Sprintf(docSchema, d.dim), "@ann", ann)
		schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		change, err := d.g.ApplySchema(d.ctx, source, schema, engine.SchemaOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(change.Steps); n != 1 || change.Steps[0].Code != catalog.ChangeANN {
			t.Errorf("the steps of the change are %v", change.Steps)
		}
	}
	if nodes < 4000 {
		t.Fatalf("the index has %d nodes", nodes)
	}
	apply("")
	if now, _, _ := d.g.VectorIndex("main", 2); now >= 0 {
		t.Errorf("the index has %d nodes without @ann", now)
	}
	d.check("without @ann", "main", 1)
	if err := d.g.Verify(d.ctx); err != nil {
		t.Error(err)
	}
	d.reopen()
	apply("@ann")
	d.check("before the build", "main", 1)
	d.build()
	if now, _, _ := d.g.VectorIndex("main", 2); now != nodes {
		t.Errorf("with @ann again the index has %d nodes, expected %d", now, nodes)
	}
	d.check("with @ann again", "main", 0.97)
}

// TestApproximateBranchAdopts creates a branch before the graph of main is built. The branch must
// adopt that graph and compare its own rows in addition.
func TestApproximateBranchAdopts(t *testing.T) {
	d := newDocs(t, 16, 30)
	d.insert("main", 4500)
	if err := d.g.Checkpoint(d.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.g.CreateBranch(d.ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	d.models["side"] = maps.Clone(d.models["main"])
	d.remove("main", 300) // alive on the branch, and not in the graph of main
	d.insert("side", 100)
	d.remove("side", 100)
	d.put("side", d.some("side", 100))
	d.build()
	nodes, _, _ := d.g.VectorIndex("main", 2)
	now, _, later := d.g.VectorIndex("side", 2)
	if now != nodes || later < 300 {
		t.Errorf("the index of the branch has %d nodes and lacks %d vectors, expected the %d nodes of main", now, later, nodes)
	}
	d.check("with the graph of main", "side", 0.97)
	d.check("with its own graph", "main", 0.97)
	d.reopen()
	d.check("after opening the graph again", "side", 0.97)
	if err := d.g.Verify(d.ctx); err != nil {
		t.Error(err)
	}
}

// TestApproximateMemory stores an approximate index that was built in memory. The memory of the
// index must then be freed, and searches must still find nearly all nearest vectors.
func TestApproximateMemory(t *testing.T) {
	d := newDocs(t, 16, 30)
	d.insert("main", 4500)
	if _, err := d.g.CreateBranch(d.ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	d.models["side"] = maps.Clone(d.models["main"])
	d.insert("side", 20)
	d.build()
	freed := d.g.VectorsFreed("main", 2)
	d.insert("main", 50)
	if err := d.g.Checkpoint(d.ctx); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		runtime.GC()
		if freed() {
			break
		}
		if time.Sleep(10 * time.Millisecond); i == 300 {
			t.Error("the graph that was built is still in memory")
			break
		}
	}
	d.check("after a checkpoint", "main", 0.97)
	d.check("after a checkpoint", "side", 0.97)
	if err := d.g.Verify(d.ctx); err != nil {
		t.Error(err)
	}
}

// TestApproximateWithoutMemory searches while many vectors are outside the graph and the memory of
// a query does not suffice to code them. The query must then compare all vectors.
func TestApproximateWithoutMemory(t *testing.T) {
	d := newDocs(t, 64, 0)
	d.insert("main", 4500)
	d.build()
	d.insert("main", 4000)
	d.g.SetQueryMemory(400_000)
	d.check("without memory", "main", 1)
}
