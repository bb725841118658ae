package column

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// storedForm returns a column as it is read from storage, and its blocks.
func storedForm(t *testing.T, c *Column) (*Column, blockMap) {
	t.Helper()
	blocks := blockMap{}
	err := c.Blocks("c", func(name string, data []byte) error { blocks[name] = slices.Clone(data); return nil })
	if err != nil {
		t.Fatal(err)
	}
	stored, rest, err := Decode(c.AppendDescriptor(nil), "c", blocks)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%d bytes left, %v", len(rest), err)
	}
	return stored, blocks
}

// someValues returns a column of n values and the values. Some are null if the type allows nulls.
func someValues(t *testing.T, typ value.Type, n int, distinct uint64) (*Column, []value.Value) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(typ.Kind)))
	one := func() value.Value {
		x := r.Uint64N(distinct)
		switch typ.Kind.Storage() {
		case value.InText:
			return value.OfString(fmt.Sprint("text ", x))
		case value.InBytes:
			return value.OfRaw(typ.Kind, fmt.Sprint(x))
		case value.InFloat32:
			return value.OfF32(float32(x))
		case value.InFloat64:
			return value.OfF64(float64(x))
		case value.InVector:
			return value.OfVector([]float32{float32(x), 1, 2}[:typ.Dim])
		case value.InBits:
			return value.OfBool(x%2 == 0)
		}
		return value.OfBits(typ.Kind, x%100)
	}
	b := NewBuilder(typ)
	var want []value.Value
	for range n {
		v := one()
		switch {
		case typ.Nullable && r.IntN(4) == 0:
			v = value.Null
		case typ.List:
			elems := []value.Value{v}
			for range r.IntN(3) {
				elems = append(elems, one())
			}
			v = value.OfList(typ.Kind, elems[r.IntN(2):])
		}
		if err := b.Append(v); err != nil {
			t.Fatal(err)
		}
		want = append(want, v)
	}
	return b.Finish(nil), want
}

// TestParts reads single values and ranges of stored columns, for every way to store values. They
// must equal the values that were stored, and no column may be read whole.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		typ      value.Type
		distinct uint64
	}{
		{value.Of(value.String), 1 << 60}, {value.Of(value.String).Optional(), 1 << 60}, {value.Of(value.String).Optional(), 9},
		{value.Of(value.Blob), 1 << 60}, {value.Of(value.Bool).Optional(), 2}, {value.Of(value.I32).Optional(), 100}, {value.Of(value.U32), 100},
		{value.Of(value.I64), 100}, {value.Of(value.U64).Optional(), 100}, {value.Of(value.F32), 100}, {value.Of(value.F64).Optional(), 100}, {value.Of(value.Date), 100},
		{value.Type{Kind: value.Vector, Dim: 3, Nullable: true}, 100},
		{value.Type{Kind: value.String, List: true, Nullable: true}, 1 << 60}, {value.Type{Kind: value.I32, List: true}, 100}, {value.Type{Kind: value.Bool, List: true, Nullable: true}, 2},
	} {
		t.Run(fmt.Sprint(c.typ, " of ", c.distinct), func(t *testing.T) {
			made, want := someValues(t, c.typ, 300, c.distinct)
			stored, _ := storedForm(t, made)
			r := rand.New(rand.NewPCG(1, 1))
			for i, v := range want {
				if got := stored.part(i, i+1).Value(0); !value.Equal(got, v) {
					t.Fatalf("value %d is %v, expected %v", i, value.Text(got), value.Text(v))
				}
				from := r.IntN(len(want) + 1)
				to := from + r.IntN(len(want)+1-from)
				part := stored.part(from, to)
				for k := range part.Len() {
					if got := part.Value(uint32(k)); !value.Equal(got, want[from+k]) {
						t.Fatalf("value %d of part %d to %d is %v, expected %v", k, from, to, value.Text(got), value.Text(want[from+k]))
					}
				}
			}
			if !stored.pending.Left() {
				t.Error("the column was read as a whole")
			}
		})
	}
}

// TestPartFaults reads one value of columns that have a faulty block.
func TestPartFaults(t *testing.T) {
	text, _ := someValues(t, value.Of(value.String), 50, 1<<60)
	coded, _ := someValues(t, value.Of(value.String), 50, 3)
	numbers, _ := someValues(t, value.Of(value.I64).Optional(), 50, 9)
	for _, c := range []struct {
		name  string
		col   *Column
		block string
		spoil func(b []byte) []byte
	}{
		{"no block", text, "c.d", nil},
		{"short texts", text, "c.d", func(b []byte) []byte { return b[1:] }},
		{"an offset too large", text, "c.o", func(b []byte) []byte { b[4*8+3] = 0xff; return b }},
		{"offsets that descend", text, "c.o", func(b []byte) []byte { b[4*8] = 0; b[4*8+1] = 0; return b }},
		{"offsets cut inside a number", text, "c.o", func(b []byte) []byte { return b[:len(b)-1] }},
		{"a code outside the dictionary", coded, "c.x", func(b []byte) []byte { b[4*7] = 77; return b }},
		{"too few numbers", numbers, "c.d", func(b []byte) []byte { return b[8:] }},
		{"too few bits", numbers, "c.v", func([]byte) []byte { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			stored, blocks := storedForm(t, c.col)
			if stored.part(7, 8); c.spoil == nil {
				delete(blocks, c.block)
			} else {
				blocks[c.block] = c.spoil(blocks[c.block])
			}
			err := func() (err error) {
				defer corruption.Catch(corruption.Watch(), &err)
				stored.part(7, 8)
				return nil
			}()
			if corrupt := (*engine.Corrupt)(nil); !errors.As(err, &corrupt) {
				t.Errorf("%v, expected a *engine.Corrupt", err)
			}
		})
	}
}

// TestByPieces counts how many uses read ranges before everything is read.
func TestByPieces(t *testing.T) {
	for _, c := range []struct {
		name       string
		size, n    int  // of the data in bytes; values per use
		fails      bool // whether reading everything fails
		not        bool // whether reading everything is not worth it
		uses, want int  // the number of uses; how many must read ranges
		whole      bool // whether everything is read in the end
	}{
		{"small data", PieceBytes - 1, 1, false, false, 3, 0, true},
		{"few uses", 10 * PieceBytes, 1, false, false, 10, 10, false},
		{"many uses", 10 * PieceBytes, 1, false, false, 12, 12, true}, // in the background, after use 12
		{"bulk", 10 * PieceBytes, bulkPoints, false, false, 2, 0, true},
		{"large data and bulk", 100 * PieceBytes, bulkPoints, false, false, 3, 1, true},
		{"a fault elsewhere", 10 * PieceBytes, 1, true, false, 40, 40, false},
		{"small data is always read", PieceBytes - 1, 1, false, true, 3, 0, true},
		{"not worth it", 10 * PieceBytes, 1, false, true, 100, 100, false},
		{"bulk is not worth it", 10 * PieceBytes, bulkPoints, false, true, 100, 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Pending
			p.Defer()
			proceed := make(chan struct{})
			ranges := 0
			read := func() {
				if c.n == 1 && c.size > PieceBytes {
					<-proceed // so that no read in the background ends before the last use
				}
				if c.fails {
					corruption.Corrupt("file", "a fault")
				}
			}
			for range c.uses {
				if p.ByPieces(c.n, func() int { return c.size }, func() bool { return !c.not }, read) {
					ranges++
				}
			}
			close(proceed)
			for wait := 0; p.background.Load() && !c.fails && p.Left() && wait < 1000; wait++ {
				time.Sleep(time.Millisecond)
			}
			if ranges != c.want || p.Left() == c.whole {
				t.Errorf("%d of %d uses read ranges, expected %d; something is left to read: %t", ranges, c.uses, c.want, p.Left())
			}
		})
	}
}
