package index

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// storedGraph returns the blocks of a graph of n vectors, the graph and its vectors.
func storedGraph(t *testing.T, n int) (blocks, *VectorGraph, [][]float32) {
	t.Helper()
	all := drawVectors(rand.New(rand.NewPCG(7, 8)), n, 32, 20, 0.4)
	all[5][3] = float32(math.Inf(1))
	g, err := BuildVectors(t.Context(), nil, 32, codesOf(all, 32, 0), same, uint32(n), 2)
	if err != nil {
		t.Fatal(err)
	}
	b := blocks{}
	if err := g.Blocks(func(name string, data []byte) error {
		b[name] = slices.Clone(data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b, g, all
}

func TestVectorGraphStored(t *testing.T) {
	b, g, all := storedGraph(t, 1500)
	o := OpenVectorGraph("9", b, 32, 1500)
	if o.Name() != "9" || !reflect.DeepEqual(o.layers, g.layers) || !slices.Equal(o.links, g.links) || o.entry != g.entry || o.breadth != g.breadth || !slices.Equal(o.oddOrds, []uint32{5}) {
		t.Error("the graph that was stored is another one")
	}
	source := func(row uint32) ([]float32, bool) { return all[row], true }
	if _, err := NewVectorView(o, 1500, Rows{}, source).Verify(source); err != nil {
		t.Error(err)
	}
	all[100][0] = 9
	if part, err := NewVectorView(o, 1500, Rows{}, source).Verify(source); err == nil || part != "9" {
		t.Errorf("a vector differs, but the verification of %q reports %v", part, err)
	}
	// A stored graph can be extended.
	more := drawVectors(rand.New(rand.NewPCG(9, 9)), 300, 32, 20, 0.4)
	e, err := BuildVectors(t.Context(), o, 32, codesOf(more, 32, 1500), same, 1800, 1)
	if err != nil || e.Nodes() != 1799 || e.Name() != "" || o.Nodes() != 1499 {
		t.Fatalf("the extended graph has %d nodes, error %v", e.Nodes(), err)
	}
	want, err := BuildVectors(t.Context(), g, 32, codesOf(more, 32, 1500), same, 1800, 2)
	if err != nil || !slices.Equal(want.links, e.links) {
		t.Errorf("the extended stored graph differs from the extended graph, error %v", err)
	}
}

// TestVectorGraphDamaged searches damaged graphs. A search must report the fault or yield results.
// It must never panic.
func TestVectorGraphDamaged(t *testing.T) {
	whole, _, _ := storedGraph(t, 1500)
	query := queryOf(drawVectors(rand.New(rand.NewPCG(1, 1)), 1, 32, 0, 1)[0])
	search := func(b blocks) (err error) {
		defer corruption.Catch(corruption.Watch(), &err)
		g := OpenVectorGraph("9", b, 32, 1500)
		v := NewVectorView(g, 1500, Rows{}, func(uint32) ([]float32, bool) { return nil, false })
		var s VectorSearch
		tick := func(int) error { return nil }
		_, err = v.Near(&s, query, 1500, 1, math.MaxInt, nil, tick, func(CodedVector) {})
		return err
	}
	if err := search(whole); err != nil {
		t.Fatal(err)
	}
	at := func(name string, i int, n uint32) func(blocks) {
		return func(b blocks) { binary.LittleEndian.PutUint32(b[name][4*i:], n) }
	}
	cut := func(name string) func(blocks) { return func(b blocks) { b[name] = b[name][:len(b[name])-4] } }
	damages := map[string]func(blocks){
		"a link to no node":       at("links", 0, 1499),
		"rows out of order":       at("rows", 7, 0),
		"a row beyond the rows":   at("rows", 1498, 1500),
		"a layer out of order":    at("upper.n", 1, 0),
		"no such node in a layer": at("upper.n", 0, 5000),
		"another format":          func(b blocks) { b["vectors"][0] = 200 },
		"an empty description":    func(b blocks) { b["vectors"] = nil },
		"a truncated description": func(b blocks) { b["vectors"] = b["vectors"][:3] },
		"other dimensions":        func(b blocks) { b["vectors"][1] = 31 },
	}
	for name := range whole {
		if name != "vectors" {
			damages["a truncated block "+name] = cut(name)
		}
		damages["no block "+name] = func(b blocks) { delete(b, name) }
	}
	for name, damage := range damages {
		b := blocks{}
		for k, v := range whole {
			b[k] = slices.Clone(v)
		}
		damage(b)
		var corrupt *engine.Corrupt
		if err := search(b); !errors.As(err, &corrupt) {
			t.Errorf("%s: error %v, expected a *engine.Corrupt", name, err)
		}
	}
	r := rand.New(rand.NewPCG(2, 3))
	names := []string{"vectors", "ords", "rows", "codes", "scale", "lack", "links", "upper.n", "upper.l", "odd.o", "odd.r"}
	for range 400 {
		b := blocks{}
		for k, v := range whole {
			b[k] = slices.Clone(v)
		}
		name := names[r.IntN(len(names))]
		b[name][r.IntN(len(b[name]))] ^= byte(1 << r.IntN(8))
		var corrupt *engine.Corrupt
		if err := search(b); err != nil && !errors.As(err, &corrupt) {
			t.Errorf("block %s: error %v, expected a *engine.Corrupt or none", name, err)
		}
	}
}
