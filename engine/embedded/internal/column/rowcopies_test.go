package column

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestRowCopies copies columns of every kind and compares the values in the records with those of the
// columns.
func TestRowCopies(t *testing.T) {
	const n = 3000
	var cols []*Column
	var copies []bool
	add := func(c *Column, copied bool) { cols, copies = append(cols, c), append(copies, copied) }
	for _, kind := range value.Kinds() {
		for _, typ := range []value.Type{{Kind: kind}, {Kind: kind, Nullable: true}, {Kind: kind, List: true}} {
			if kind == value.Vector {
				typ.Dim = 3
			}
			if kind == value.Decimal {
				typ.Dim = value.DecimalOf(20, 2).Dim
			}
			if kind == value.Vector && typ.List {
				continue
			}
			storage := kind.Storage()
			for _, distinct := range []uint64{5, 1 << 40} { // the first makes a dictionary of texts
				c, _ := someValues(t, typ, n, distinct)
				stored, _ := storedForm(t, c)
				add(stored, !typ.List && storage != value.InVector && storage != value.InBytes)
			}
		}
	}
	add(Null(value.Type{Kind: value.I64, Nullable: true}, n), false)
	// Texts of such lengths that some are in the copies and others are not, and texts that are
	// never in them.
	for _, most := range []int{100, 200, 250} {
		b := NewBuilder(value.Of(value.String))
		for i := range n {
			if err := b.AppendString(strings.Repeat(fmt.Sprint(i%10), i*7919%most) + fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		stored, _ := storedForm(t, b.Finish(nil))
		add(stored, true)
	}
	long := NewBuilder(value.Of(value.String))
	for i := range n {
		if err := long.AppendString(strings.Repeat("long", 100) + fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	stored, _ := storedForm(t, long.Finish(nil))
	add(stored, false)

	// Copies of a few columns each, so that texts of each kind fit into some of them.
	for from := range cols {
		some := cols[from:min(from+6, len(cols))]
		some = append(some[:len(some):len(some)], cols[len(cols)-4:]...)
		copied := append(copies[from:min(from+6, len(cols)):min(from+6, len(cols))], copies[len(cols)-4:]...)
		r := NewRowCopies(some, n)
		if r == nil {
			t.Fatalf("columns from %d: no copies", from)
		}
		for k, c := range some {
			if r.Has(k) != copied[k] {
				t.Fatalf("column of type %s: it is copied: %v, expected %v", c.Type(), r.Has(k), copied[k])
			}
			if !copied[k] {
				if r.One(k, 0, nil) {
					t.Fatalf("column of type %s: One returns a value that is not copied", c.Type())
				}
				continue
			}
			checkRowCopies(t, r, k, c, n)
		}
	}
}

// checkRowCopies compares column k of the copies with the column that was copied.
func checkRowCopies(t *testing.T, r *RowCopies, k int, c *Column, n uint32) {
	t.Helper()
	rows := make([]uint32, 0, n)
	for i := range n {
		rows = append(rows, (i*1013+7)%n)
	}
	var got, want Vec
	got.Reset(c.Type(), len(rows)+1)
	want.Reset(c.Type(), len(rows)+1)
	got.Set(0, value.Null)
	want.Set(0, value.Null)
	r.Gather(k, &got, 1, rows)
	c.Gather(&want, 1, rows)
	for i := range rows {
		if a, b := got.Value(i+1), want.Value(i+1); !reflect.DeepEqual(a, b) {
			t.Fatalf("column of type %s, row %d: the copy has %v, the column has %v", c.Type(), rows[i], a, b)
		}
		var one Vec
		one.Reset(c.Type(), 1)
		if ok := r.One(k, rows[i], &one.Column); ok == c.IsNull(rows[i]) || ok && !reflect.DeepEqual(one.Value(0), want.Value(i+1)) {
			t.Fatalf("column of type %s, row %d: One returns %v, %v; the column has %v", c.Type(), rows[i], one.Value(0), ok, want.Value(i+1))
		}
		if c.Type().Kind == value.String && r.Str(k, rows[i]) != want.Strings[i+1] && !c.IsNull(rows[i]) {
			t.Fatalf("column of type %s, row %d: Str returns %q, expected %q", c.Type(), rows[i], r.Str(k, rows[i]), want.Strings[i+1])
		}
	}
}

// TestRowCopiesLimit checks that copies stay below the limit of a process.
func TestRowCopiesLimit(t *testing.T) {
	a, _ := someValues(t, value.Of(value.I64), 100, 1000)
	b, _ := someValues(t, value.Of(value.String), 100, 1000)
	if NewRowCopies([]*Column{a, b}, 100) == nil {
		t.Error("there are no copies although there is memory")
	}
	if NewRowCopies([]*Column{a}, 100) != nil {
		t.Error("there are copies of a single column")
	}
	left := copiesLimit() - copied.Load()
	if NewMemory(int(left)+1) != nil {
		t.Error("NewMemory exceeds the limit")
	}
	copied.Add(left)
	defer copied.Add(-left)
	if NewRowCopies([]*Column{a, b}, 100) != nil {
		t.Error("there are copies although the limit is reached")
	}
}
