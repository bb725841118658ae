package vectorindex

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// drawVectors returns n vectors of dim components. They lie around the given number of centres. If
// it is 0, each vector has a random direction.
func drawVectors(r *rand.Rand, n, dim, centres int, spread float64) [][]float32 {
	draw := func(mean []float32, spread float64) []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64() * spread)
			if mean != nil {
				v[i] += mean[i]
			}
		}
		return v
	}
	means := make([][]float32, centres)
	for i := range means {
		means[i] = draw(nil, 1)
	}
	out := make([][]float32, n)
	for i := range out {
		if centres == 0 {
			out[i] = draw(nil, 1)
			continue
		}
		out[i] = draw(means[r.IntN(centres)], spread)
	}
	return out
}

// codesOf returns the codes of vectors. The row number of the first vector is `first`; the others
// have the numbers after it.
func codesOf(vectors [][]float32, dim int, first uint32) *column.Codes {
	x := column.NewCodes(dim)
	for i, v := range vectors {
		x.Add(first+uint32(i), v)
	}
	return x
}

// queryOf returns the codes of a query, padded like those of a vector.
func queryOf(v []float32) []int16 {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	q := make([]int16, (len(v)+DotStep-1)/DotStep*DotStep)
	for i, x := range v {
		q[i] = int16(math.Round(float64(x) / most * 300))
	}
	return q
}

func same(row uint32) uint32 { return row }

// identityView returns a view in which ordinal i has row i, and every vector is in the graph.
func identityView(g *Graph) *View {
	return viewOf(g, g.covered, func(uint32) ([]float32, bool) { return nil, false })
}

// viewOf returns the view of a state in which ordinal i has row i.
func viewOf(g *Graph, next uint32, vector Vectors) *View {
	v, err := NewView(index.Work{Ctx: context.Background()}, g, next, index.Rows{}, vector)
	if err != nil {
		panic(err)
	}
	return v
}

// nearestTo lists the k entities that Each finds closest to a query.
func nearestTo(v *View, s *Search, query []int16, k int, accept engine.Bitmap) []uint32 {
	var all []closeness
	least := float32(math.Inf(-1))
	_ = v.Each(s, query, true, accept, &least, func(int) error { return nil }, func(c Coded) {
		all = append(all, closenessOf(float32(c.Sum)*c.Scale, c.Ord))
	})
	slices.Sort(all)
	var ords []uint32
	for _, c := range all[:min(k, len(all))] {
		ords = append(ords, c.node())
	}
	return ords
}

// recall returns the share of the ten nearest entities that searches of the view find.
func recall(t testing.TB, v *View, queries [][]float32, breadth int, accept engine.Bitmap) float64 {
	t.Helper()
	var s Search
	found, all := 0, 0
	for _, query := range queries {
		q := queryOf(query)
		want := nearestTo(v, &s, q, 10, accept)
		var got []closeness
		test := func(uint32) bool { return true }
		if accept != nil {
			test = func(ord uint32) bool { return accept.Get(int(ord)) }
		}
		ok, err := v.Near(&s, q, breadth, 10, math.MaxInt, test, func(int) error { return nil }, func(c Coded) {
			got = append(got, closenessOf(float32(c.Sum)*c.Scale, c.Ord))
		})
		if !ok || err != nil {
			t.Fatalf("the search found %d entities: %v", len(got), err)
		}
		slices.Sort(got)
		all += len(want)
		for _, c := range got[:min(10, len(got))] {
			if slices.Contains(want, c.node()) {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

func TestVectorGraphRecall(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name    string
		centres int
		spread  float64
	}{{"random", 0, 1}, {"clustered", 100, 0.3}, {"far clusters", 20, 0.01}} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			const n, dim = 6000, 48
			all := drawVectors(r, n+50, dim, c.centres, c.spread)
			g, err := Build(t.Context(), nil, dim, codesOf(all[:n], dim, 0), same, n, 2)
			if err != nil {
				t.Fatal(err)
			}
			if g.Breadth() == 0 {
				t.Fatal("no breadth suffices")
			}
			v := identityView(g)
			if got := recall(t, v, all[n:], g.Breadth(), nil); got < 0.97 {
				t.Errorf("recall %.3f with breadth %d, expected 0.97", got, g.Breadth())
			}
			half := engine.NewBitmap(n)
			for i := 0; i < n; i += 3 {
				half.Set(i)
			}
			if got := recall(t, v, all[n:], g.Breadth(), half); got < 0.97 {
				t.Errorf("recall %.3f with a filter and breadth %d, expected 0.97", got, g.Breadth())
			}
		})
	}
}

// TestVectorGraphDeterministic builds graphs of the same vectors with different numbers of
// goroutines. The graphs must be equal.
func TestVectorGraphDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := drawVectors(r, 2000, 32, 10, 0.5)
	build := func(workers int) *Graph {
		g, err := Build(t.Context(), nil, 32, codesOf(all, 32, 0), same, 2000, workers)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	one, four := build(1), build(4)
	if !reflect.DeepEqual(one, four) {
		t.Error("the graphs differ")
	}
}

func TestDot8(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dim := range []int{32, 64, 768, 4096} {
		x, y, w := make([]int8, dim), make([]int8, dim), make([]int16, dim)
		for range 50 {
			for i := range x {
				x[i], y[i], w[i] = int8(r.IntN(255)-127), int8(r.IntN(255)-127), int16(r.IntN(255)-127)
			}
			if got, want := dot8(x, y, x), dotGo(x, y); got != want {
				t.Fatalf("%d components: %d, expected %d", dim, got, want)
			}
			if got, want := dot16(x, w, x), dotGo(x, w); got != want {
				t.Fatalf("%d components: %d, expected %d", dim, got, want)
			}
		}
	}
}
