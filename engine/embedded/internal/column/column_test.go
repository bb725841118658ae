package column

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// samples returns values by type. The tests add null to each list.
func samples() map[string][]value.Value {
	var few, many []value.Value
	for i := range 100 {
		few = append(few, value.OfString([]string{"", "red", "green"}[i%3]))
		many = append(many, value.OfString(fmt.Sprint("text ", i)))
	}
	ints := func(of func(int64) value.Value, ns ...int64) (out []value.Value) {
		for _, n := range ns {
			out = append(out, of(n))
		}
		return out
	}
	return map[string][]value.Value{
		"dictionary": few,
		"texts":      many,
		"bool":       {value.OfBool(true), value.OfBool(false)},
		"i32":        ints(func(n int64) value.Value { return value.OfI32(int32(n)) }, -1<<31, -1, 0, 1<<31-1),
		"i64":        ints(value.OfI64, -1<<63, -1, 0, 1<<63-1),
		"u32":        {value.OfU32(0), value.OfU32(1<<32 - 1)},
		"u64":        {value.OfU64(0), value.OfU64(1<<64 - 1)},
		"f32":        {value.OfF32(1.5), value.OfF32(-0.25)},
		"f64":        {value.OfF64(0.1), value.OfF64(-1e300)},
		"date":       {value.OfDate(-1), value.OfDate(20000)},
		"datetime":   {value.OfDateTime(-1), value.OfDateTime(1714566600123456)},
		"blob":       {value.OfBlob([]byte{0, 255}), value.OfBlob(nil)},
		"vector":     {value.OfVector([]float32{1, 2, 3}), value.OfVector([]float32{-1, 0, 1})},
		"list": {value.OfList(value.String, nil), value.OfList(value.String, []value.Value{value.OfString("a"), value.OfString("")}),
			value.OfList(value.String, []value.Value{value.OfString("b")})},
	}
}

func build(t testing.TB, vals []value.Value, perm []uint32) *Column {
	t.Helper()
	b := NewBuilder(vals[0].Type().Optional())
	for i, v := range vals {
		if err := b.Append(v); err != nil {
			t.Fatal(err)
		}
		if got := b.Value(i); !value.Equal(got, v) {
			t.Fatalf("the builder has %v at %d, want %v", got, i, v)
		}
	}
	return b.Finish(perm)
}

func same(t *testing.T, what string, c *Column, want []value.Value) {
	t.Helper()
	if c.Len() != len(want) {
		t.Fatalf("%s: %d values, want %d", what, c.Len(), len(want))
	}
	var vec Vec
	vec.Reset(c.Type(), len(want))
	rows := make([]uint32, len(want))
	for i := range rows {
		rows[i] = uint32(i)
	}
	c.Gather(&vec, 0, rows)
	for i, v := range want {
		if got := c.Value(uint32(i)); !value.Equal(got, v) {
			t.Errorf("%s: value %d is %v, want %v", what, i, got, v)
		}
		if got := vec.Value(i); !value.Equal(got, v) {
			t.Errorf("%s: gathered value %d is %v, want %v", what, i, got, v)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for name, vals := range samples() {
		for _, nulls := range []bool{false, true} {
			vals := vals
			if nulls {
				vals = append(append([]value.Value{vals[0], value.Null}, vals[1:]...), value.Null)
			}
			t.Run(fmt.Sprintf("%s, nulls %t", name, nulls), func(t *testing.T) {
				c := build(t, vals, nil)
				same(t, "built", c, vals)
				if (name == "dictionary") != (c.code != nil) {
					t.Errorf("dictionary: %t", c.code != nil)
				}
				perm, back := make([]uint32, len(vals)), make([]value.Value, len(vals))
				for i := range perm {
					perm[i] = uint32(len(vals) - 1 - i)
					back[i] = vals[perm[i]]
				}
				same(t, "permuted", build(t, vals, perm), back)
				desc, blocks := encode(t, c)
				decoded, rest, err := Decode(append(desc, "rest"...), "c", blocks)
				if err != nil || string(rest) != "rest" {
					t.Fatalf("decode: %v, rest %q", err, rest)
				}
				same(t, "decoded", decoded, vals)
			})
		}
	}
}

// TestDecodeRefuses truncates each block. Reading the column must report this.
func TestDecodeRefuses(t *testing.T) {
	for name, vals := range samples() {
		desc, blocks := encode(t, build(t, append([]value.Value{vals[0], value.Null}, vals...), nil))
		for block, data := range blocks {
			cut := bytes.Clone(data[:len(data)-1])
			bad := maps.Clone(blocks)
			bad[block] = cut
			decoded, _, err := Decode(desc, "c", bad)
			if err == nil {
				err = use(decoded)
			}
			if c := (*engine.Corrupt)(nil); !errors.As(err, &c) {
				t.Errorf("%s: block %s cut short: %v, want *engine.Corrupt", name, block, err)
			}
		}
		for n := range desc {
			if _, _, err := Decode(desc[:n], "c", blocks); err == nil {
				t.Errorf("%s: a descriptor cut to %d bytes is taken", name, n)
			}
		}
	}
}

type blockMap map[string][]byte

func (m blockMap) Name() string { return "blocks" }

func (m blockMap) Block(name string) ([]byte, error) {
	if b, ok := m[name]; ok {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block", Name: name}
}

func (m blockMap) Pieces(name string) (Pieces, error) {
	b, err := m.Block(name)
	return wholeBlock(b), err
}

// wholeBlock is a block in memory.
type wholeBlock []byte

func (b wholeBlock) Len() int { return len(b) }

func (b wholeBlock) Range(from, to int) ([]byte, error) { return b[from:to:to], nil }

func (wholeBlock) Prefetch(int, int) {}

func (wholeBlock) WorthWhole() bool { return true }

func (b wholeBlock) Append(dst []byte, from, to int) ([]byte, error) {
	return append(dst, b[from:to]...), nil
}

// use reads the first values of a column and returns the fault that they throw.
func use(c *Column) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	for i := range min(uint32(c.Len()), 1000) {
		c.Value(i)
	}
	return nil
}

func encode(t testing.TB, c *Column) (desc []byte, blocks blockMap) {
	t.Helper()
	blocks = blockMap{}
	err := c.Blocks("c", func(name string, data []byte) error {
		blocks[name] = bytes.Clone(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.AppendDescriptor(nil), blocks
}

func FuzzDecode(f *testing.F) {
	for _, vals := range samples() {
		desc, blocks := encode(f, build(f, vals, nil))
		f.Add(desc, blocks["c.v"], blocks["c.x"], blocks["c.o"], blocks["c.d"])
	}
	f.Fuzz(func(t *testing.T, desc, v, x, o, d []byte) {
		blocks := blockMap{"c.v": v, "c.x": x, "c.o": o, "c.d": d, "c.e.o": o, "c.e.d": d, "c.e.x": x, "c.e.v": v}
		c, _, err := Decode(desc, "c", blocks)
		if err != nil {
			return
		}
		_ = use(c) // must not panic
	})
}
