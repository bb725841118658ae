package column

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// anyValue draws a random value of a type. If the argument `few` is true, there are only a few
// different values.
func anyValue(rng *rand.Rand, t value.Type, few bool) value.Value {
	n := rng.Int64N(1 << 30)
	if few {
		n %= 3
	}
	if t.Nullable && n%4 == 0 {
		return value.Null
	}
	if t.List {
		elems := make([]value.Value, n%4)
		for i := range elems {
			elems[i] = anyValue(rng, t.Elem(), few)
		}
		return value.OfList(t.Kind, elems)
	}
	switch k := t.Kind; k.Storage() {
	case value.InText:
		return value.OfString(fmt.Sprint("é", n))
	case value.InBits:
		return value.OfBits(k, uint64(n%2))
	case value.InFloat32, value.InFloat64:
		return value.OfBits(k, math.Float64bits(float64(n)/8))
	case value.InVector:
		return value.OfVector([]float32{float32(n), 1, 2})
	case value.InBytes:
		return value.OfRaw(k, string([]byte{byte(n)}))
	default:
		return value.OfBits(k, uint64(-n))
	}
}

// TestConcat compares concatenated builders with one builder that got all values.
func TestConcat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kind := range value.Kinds() {
		for flags := range 8 {
			typ := value.Type{Kind: kind, Nullable: flags&1 != 0, List: flags&2 != 0}
			if kind == value.Vector {
				if typ.Dim = 3; typ.List {
					continue
				}
			}
			if kind == value.Decimal {
				typ.Dim = value.DecimalOf(20, 2).Dim
			}
			few := flags&4 != 0
			for _, sizes := range [][]int{{0}, {5}, {100, 0, 1, 63, 400}, {1, 1}} {
				whole, scratch := NewBuilder(typ), NewBuilder(typ)
				parts := func() (out []*Builder) {
					rng := rand.New(rand.NewPCG(5, 6))
					whole = NewBuilder(typ)
					for _, n := range sizes {
						for range n {
							v := anyValue(rng, typ, few)
							if err := errors.Join(whole.Append(v), scratch.Append(v)); err != nil {
								t.Fatal(err)
							}
						}
						keep := scratch.Len()
						for range 3 {
							_ = scratch.Append(anyValue(rng, typ, few))
						}
						scratch.Truncate(keep)
						out = append(out, scratch.Cut())
					}
					return out
				}
				for _, shuffled := range []bool{false, true} {
					list := parts()
					var perm []uint32
					if shuffled {
						perm = []uint32{}
						for _, p := range rng.Perm(whole.Len()) {
							perm = append(perm, uint32(p))
						}
						perm = perm[:len(perm)*3/4]
					}
					got, err := Concat(list, perm)
					if err != nil {
						t.Fatal(err)
					}
					want := whole.Finish(perm)
					if got.Len() != want.Len() {
						t.Fatalf("%s: %d values, want %d", typ, got.Len(), want.Len())
					}
					for i := range want.Len() {
						if g, w := got.Value(uint32(i)), want.Value(uint32(i)); !reflect.DeepEqual(g, w) {
							t.Fatalf("%s, %v, value %d is %v, want %v", typ, sizes, i, g, w)
						}
					}
					g, w := blocksOf(t, got), blocksOf(t, want)
					if !reflect.DeepEqual(g, w) {
						t.Fatalf("%s, %v, shuffled %t: the blocks differ", typ, sizes, shuffled)
					}
				}
			}
		}
	}
}

func blocksOf(t *testing.T, c *Column) map[string]string {
	t.Helper()
	out := map[string]string{"": string(c.AppendDescriptor(nil))}
	if err := c.Blocks("c", func(name string, data []byte) error { out[name] = string(data); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTextBytes(t *testing.T) {
	b := NewBuilder(value.Of(value.String))
	for range 10 {
		_ = b.AppendString("abc")
	}
	if b.TextBytes() != 30 || b.textBytesOf(9) != 3 {
		t.Errorf("10 texts of 3 bytes have %d bytes, the last one %d", b.TextBytes(), b.textBytesOf(9))
	}
	l := NewBuilder(value.Type{Kind: value.String, List: true})
	for range 4 {
		_ = l.Append(value.OfList(value.String, []value.Value{value.OfString("abcd"), value.OfString("efgh")}))
	}
	if l.TextBytes() != 32 || l.textBytesOf(3) != 8 {
		t.Errorf("4 lists of texts with 8 bytes have %d bytes, the last one %d", l.TextBytes(), l.textBytesOf(3))
	}
}

func TestSetVector(t *testing.T) {
	b := NewBuilder(value.Type{Kind: value.Vector, Dim: 2, Nullable: true})
	b.AppendNull()
	b.AppendVector([]float32{1, 2})
	b.AppendNull()
	b.SetVector(0, []float32{3, 4})
	b.SetVector(1, []float32{5, 6})
	c := b.Finish(nil)
	for i, want := range []value.Value{value.OfVector([]float32{3, 4}), value.OfVector([]float32{5, 6}), value.Null} {
		if got := c.Value(uint32(i)); !reflect.DeepEqual(got, want) {
			t.Errorf("value %d is %v, want %v", i, got, want)
		}
	}
}
