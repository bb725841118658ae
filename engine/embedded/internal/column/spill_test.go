package column

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// spillBlocks is a source whose blocks are in memory.
type spillBlocks map[string][]byte

func (m spillBlocks) Name() string { return "blocks" }

func (m spillBlocks) Block(name string) ([]byte, error) {
	b, ok := m[name]
	if !ok {
		return nil, &engine.NotFound{What: "block", Name: name}
	}
	return b, nil
}

func (m spillBlocks) Pieces(string) (Pieces, error) { panic("not used") }

func (m spillBlocks) add(name string, data []byte) error {
	m[name] = slices.Clone(data)
	return nil
}

// spillTypes lists one type for each way to store values.
var spillTypes = []value.Type{
	value.Of(value.String), value.Of(value.Bool), value.Of(value.I32), value.Of(value.U64), value.Of(value.F32), value.Of(value.F64), value.Of(value.Blob),
	{Kind: value.Vector, Dim: 3}, {Kind: value.String, List: true}, {Kind: value.I64, List: true}, {Kind: value.Bool, List: true},
}

// randomValue returns a value of type t, or null.
func randomValue(rng *rand.Rand, t value.Type) value.Value {
	if rng.IntN(4) == 0 {
		return value.Null
	}
	if t.List {
		elems := make([]value.Value, rng.IntN(4))
		for i := range elems {
			for elems[i] = value.Null; elems[i].IsNull(); {
				elems[i] = randomValue(rng, t.Elem())
			}
		}
		return value.OfList(t.Kind, elems)
	}
	switch t.Kind {
	case value.String:
		return value.OfString(fmt.Sprint(rng.IntN(1000)))
	case value.Blob:
		return value.OfBlob([]byte{byte(rng.IntN(256)), 7}[:rng.IntN(3)])
	case value.F32:
		return value.OfF32(rng.Float32())
	case value.F64:
		return value.OfF64(rng.Float64())
	case value.Vector:
		return value.OfVector([]float32{rng.Float32(), 1, rng.Float32()})
	case value.Bool:
		return value.OfBool(rng.IntN(2) == 0)
	}
	return value.OfBits(t.Kind, uint64(rng.IntN(1000)))
}

// TestSpill gathers values of every type from several builders in a random order, spills them,
// reads them back and makes a column of them. The values must stay the same.
func TestSpill(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, typ := range spillTypes {
		for _, permuted := range []bool{false, true} {
			var parts []*Builder
			var want []value.Value
			for n := range 5 {
				b := NewBuilder(typ)
				for range n * 40 {
					v := randomValue(rng, typ)
					if err := b.Append(v); err != nil {
						t.Fatal(err)
					}
					want = append(want, v)
				}
				parts = append(parts, b)
			}
			var perm []uint32
			if permuted {
				for _, i := range rng.Perm(len(want)) {
					perm = append(perm, uint32(i))
				}
				moved := make([]value.Value, len(want))
				for i, p := range perm {
					moved[i] = want[p]
				}
				want = moved
			}
			blocks := spillBlocks{}
			size := int64(0)
			sizes := make([]uint32, len(want))
			whole := Gather(parts, perm)
			if err := whole.Spill("c", blocks.add); err != nil {
				t.Fatal(err)
			}
			got := Unspill(typ, len(want), "c", blocks)
			got.AddSizes(sizes)
			for i := range want {
				size += int64(sizes[i])
				if v := got.Value(i); !value.Equal(v, want[i]) {
					t.Fatalf("%s, permuted %t: value %d is %v, want %v", typ, permuted, i, v, want[i])
				}
			}
			if got.Size() != size {
				t.Errorf("%s: Size is %d, the sum of AddSizes is %d", typ, got.Size(), size)
			}
			c, err := Concat([]*Builder{got, Unspill(typ, len(want), "c", blocks)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 * len(want) {
				if v := c.Value(uint32(i)); !value.Equal(v, want[i%len(want)]) {
					t.Fatalf("%s: value %d of the column is %v, want %v", typ, i, v, want[i%len(want)])
				}
			}
		}
	}
}

// FuzzUnspill reads damaged blocks. Unspill must throw an error or return values that can be read.
func FuzzUnspill(f *testing.F) {
	f.Add(uint8(0), 2, []byte{0, 1}, []byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, []byte("ab"))
	f.Add(uint8(7), 1, []byte(nil), []byte{9, 0, 0, 0}, make([]byte, 12))
	f.Add(uint8(8), 1, []byte(nil), []byte{0, 0, 0, 0, 1, 0, 0, 0}, []byte("x"))
	f.Add(uint8(10), 1, []byte(nil), []byte{0, 0, 0, 0, 2, 0, 0, 0}, []byte{1, 3})
	f.Fuzz(func(t *testing.T, kind uint8, n int, null, offsets, data []byte) {
		typ := spillTypes[int(kind)%len(spillTypes)]
		if n < 0 || n > 1000 {
			return
		}
		blocks := spillBlocks{
			"c.n": null, "c.o": offsets, "c.a": offsets, "c.d": data, "c.x": data, "c.b": data,
			"c.e.n": null, "c.e.o": offsets, "c.e.d": data, "c.e.x": data, "c.e.b": data,
		}
		var err error
		func() {
			defer corruption.Catch(corruption.Watch(), &err)
			b := Unspill(typ, n, "c", blocks)
			for i := range n {
				_ = b.Value(i)
			}
			b.AddSizes(make([]uint32, n))
			_ = Gather([]*Builder{b, b}, nil)
		}()
	})
}
