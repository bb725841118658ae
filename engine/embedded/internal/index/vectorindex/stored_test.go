package vectorindex

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// graphBlocks builds a graph of n vectors. It returns the stored blocks of the graph, the graph
// itself, and the vectors.
func graphBlocks(t *testing.T, n int) (storedtest.Blocks, *Graph, [][]float32) {
	t.Helper()
	all := drawVectors(rand.New(rand.NewPCG(7, 8)), n, 32, 20, 0.4)
	all[5][3] = float32(math.Inf(1))
	g, err := Build(t.Context(), nil, 32, codesOf(all, 32, 0), same, uint32(n), 2)
	if err != nil {
		t.Fatal(err)
	}
	b := storedtest.Blocks{}
	if err := g.Blocks(func(name string, data []byte) error {
		b[name] = slices.Clone(data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b, g, all
}

func TestVectorGraphStored(t *testing.T) {
	b, g, all := graphBlocks(t, 1500)
	o := OpenGraph("9", b, 32, 1500)
	if o.Name() != "9" || !reflect.DeepEqual(o.layers, g.layers) || !slices.Equal(linksIn(o), g.links) || o.entry != g.entry || o.breadth != g.breadth || !slices.Equal(o.oddOrds, []uint32{5}) {
		t.Error("the graph that was stored is another one")
	}
	source := func(row uint32) ([]float32, bool) { return all[row], true }
	if _, err := viewOf(o, 1500, source).Verify(source); err != nil {
		t.Error(err)
	}
	all[100][0] = 9
	if part, err := viewOf(o, 1500, source).Verify(source); err == nil || part != "9" {
		t.Errorf("a vector differs, but the verification of %q reports %v", part, err)
	}
	// A stored graph can be extended.
	more := drawVectors(rand.New(rand.NewPCG(9, 9)), 300, 32, 20, 0.4)
	e, err := Build(t.Context(), o, 32, codesOf(more, 32, 1500), same, 1800, 1)
	if err != nil || e.Nodes() != 1799 || e.Name() != "" || o.Nodes() != 1499 {
		t.Fatalf("the extended graph has %d nodes, error %v", e.Nodes(), err)
	}
	want, err := Build(t.Context(), g, 32, codesOf(more, 32, 1500), same, 1800, 2)
	if err != nil || !slices.Equal(want.links, e.links) {
		t.Errorf("the extended stored graph differs from the extended graph, error %v", err)
	}
}

// linksIn returns the links of the lowest layer.
func linksIn(g *Graph) []uint32 {
	g.load()
	return g.links
}

// wholeReads records the names of the blocks that are read whole.
type wholeReads struct {
	storedtest.Blocks
	names map[string]bool
}

func (w wholeReads) Block(name string) ([]byte, error) {
	w.names[name] = true
	return w.Blocks.Block(name)
}

// TestVectorSearchReadsItsNodes searches a graph right after it was opened. The search must not
// read the whole blocks of codes and links, which are most of the graph. It must find the same
// nodes as a search of the graph in memory.
func TestVectorSearchReadsItsNodes(t *testing.T) {
	defer func(was int) { column.PieceBytes = was }(column.PieceBytes)
	column.PieceBytes = 16 // so small that one search is not a reason to read whole blocks
	b, g, _ := graphBlocks(t, 1500)
	src := wholeReads{b, map[string]bool{}}
	query := queryOf(drawVectors(rand.New(rand.NewPCG(1, 1)), 1, 32, 0, 1)[0])
	search := func(g *Graph) (found []uint32) {
		var s Search
		_, err := identityView(g).Near(&s, query, 10, 1, math.MaxInt, nil, func(int) error { return nil }, func(c Coded) { found = append(found, c.Ord) })
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	want, got := search(g), search(OpenGraph("9", src, 32, 1500))
	if len(got) != 10 || !slices.Equal(got, want) {
		t.Errorf("the stored graph finds %v, the graph in memory %v", got, want)
	}
	if src.names["codes"] || src.names["links"] || !src.names["rows"] {
		t.Errorf("the first search has read the blocks %v whole", src.names)
	}
}

// TestVectorViewWithinLimits makes views of a state with many vectors outside the graph. The call
// must stop early if the view exceeds the memory or the context has ended.
func TestVectorViewWithinLimits(t *testing.T) {
	_, g, all := graphBlocks(t, 1500)
	more := append(slices.Clone(all), drawVectors(rand.New(rand.NewPCG(3, 4)), 5000, 32, 0, 1)...)
	coded := 0
	source := func(row uint32) ([]float32, bool) { coded++; return more[row], true }
	errFull := errors.New("no memory is left")
	spent := 0
	w := index.Work{Ctx: t.Context(), Spend: func(bytes int) error {
		if spent += bytes; spent > 1200*g.LaterBytes() {
			return errFull
		}
		return nil
	}}
	if _, err := NewView(w, g, 6500, index.Rows{}, source); err != errFull || coded > 1300 {
		t.Errorf("a view beyond the memory: error %v after %d vectors", err, coded)
	}
	view := viewOf(g, 1500, source)
	spent = 0
	if _, err := Update(w, view, 6500, index.Rows{}, source); err != errFull {
		t.Errorf("an update beyond the memory: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	coded = 0
	if _, err := Update(index.Work{Ctx: ctx}, view, 6500, index.Rows{}, source); err != context.Canceled || coded > 1000 {
		t.Errorf("an update that is cancelled: error %v after %d vectors", err, coded)
	}
	spent = 0
	if v, err := Update(w, view, 2300, index.Rows{}, source); err != nil || v.Later() != 800 {
		t.Errorf("an update within the memory: error %v", err)
	}
}

// TestVectorGraphDamaged searches damaged graphs. A search must report the fault or yield results.
// It must never panic.
func TestVectorGraphDamaged(t *testing.T) {
	slow.Test(t)
	whole, _, _ := graphBlocks(t, 1500)
	query := queryOf(drawVectors(rand.New(rand.NewPCG(1, 1)), 1, 32, 0, 1)[0])
	search := func(b storedtest.Blocks) (err error) {
		defer corruption.Catch(corruption.Watch(), &err)
		g := OpenGraph("9", b, 32, 1500)
		v := identityView(g)
		var s Search
		tick := func(int) error { return nil }
		_, err = v.Near(&s, query, 1500, 1, math.MaxInt, nil, tick, func(Coded) {})
		return err
	}
	if err := search(whole); err != nil {
		t.Fatal(err)
	}
	at := func(name string, i int, n uint32) func(storedtest.Blocks) {
		return func(b storedtest.Blocks) { binary.LittleEndian.PutUint32(b[name][4*i:], n) }
	}
	cut := func(name string) func(storedtest.Blocks) {
		return func(b storedtest.Blocks) { b[name] = b[name][:len(b[name])-4] }
	}
	damages := map[string]func(storedtest.Blocks){
		"a link to no node":       at("links", 0, 1499),
		"rows out of order":       at("rows", 7, 0),
		"a row beyond the rows":   at("rows", 1498, 1500),
		"a layer out of order":    at("upper.n", 1, 0),
		"no such node in a layer": at("upper.n", 0, 5000),
		"another format":          func(b storedtest.Blocks) { b["vectors"][0] = 200 },
		"an empty description":    func(b storedtest.Blocks) { b["vectors"] = nil },
		"a truncated description": func(b storedtest.Blocks) { b["vectors"] = b["vectors"][:3] },
		"other dimensions":        func(b storedtest.Blocks) { b["vectors"][1] = 31 },
	}
	for name := range whole {
		if name != "vectors" {
			damages["a truncated block "+name] = cut(name)
		}
		damages["no block "+name] = func(b storedtest.Blocks) { delete(b, name) }
	}
	for name, damage := range damages {
		b := storedtest.Blocks{}
		for k, v := range whole {
			b[k] = slices.Clone(v)
		}
		damage(b)
		if err := search(b); !storedtest.IsBadData(err) {
			t.Errorf("%s: error %v, expected a *engine.Corrupt", name, err)
		}
	}
	r := rand.New(rand.NewPCG(2, 3))
	names := []string{"vectors", "ords", "rows", "codes", "scale", "lack", "links", "upper.n", "upper.l", "odd.o", "odd.r"}
	for range 400 {
		b := storedtest.Blocks{}
		for k, v := range whole {
			b[k] = slices.Clone(v)
		}
		name := names[r.IntN(len(names))]
		b[name][r.IntN(len(b[name]))] ^= byte(1 << r.IntN(8))
		if err := search(b); err != nil && !storedtest.IsBadData(err) {
			t.Errorf("block %s: error %v, expected a *engine.Corrupt or none", name, err)
		}
	}
}

// TestVectorCodesAreNotCopied builds a graph of several chunks. It must use the array of codes that
// it was given, also when it is stored, because the codes are most of its memory. A graph that
// extends it must store all codes too.
func TestVectorCodesAreNotCopied(t *testing.T) {
	slow.Test(t)
	const n, more = chunkNodes + 100, 50
	all := drawVectors(rand.New(rand.NewPCG(7, 9)), n+more, 32, 20, 0.4)
	stored := func(g *Graph) (codes []byte) {
		if err := g.Blocks(func(name string, data []byte) error {
			if name == "codes" {
				codes = data
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return codes
	}
	x := codesOf(all[:n], 32, 0)
	g, err := Build(t.Context(), nil, 32, x, same, n, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := column.Bytes(x.Bytes); &stored(g)[0] != &want[0] {
		t.Error("the graph has a copy of the codes")
	}
	e, err := Build(t.Context(), g, 32, codesOf(all[n:], 32, n), same, n+more, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := column.Bytes(codesOf(all, 32, 0).Bytes); !slices.Equal(stored(e), want) {
		t.Error("the graph that extends another one stores other codes")
	}
}
