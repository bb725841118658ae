package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestThen composes two carries, and compares the result with the expected carry.
func TestThen(t *testing.T) {
	part := func(from int, props ...int) TypeCarry { return TypeCarry{From: from, Props: append([]int{}, props...)} }
	a := &Carry{Nodes: []TypeCarry{part(1, 2, -1, 0), part(-1, -1), part(0)}, Edges: []TypeCarry{part(0, 0)}}
	b := &Carry{Nodes: []TypeCarry{part(2, -1), part(0, 2, 1, -1, 0), part(1, 0), part(-1, -1)}, Edges: []TypeCarry{part(-1)}}
	want := &Carry{Nodes: []TypeCarry{part(0, -1), part(1, 0, -1, -1, 2), part(-1, -1), part(-1, -1)}, Edges: []TypeCarry{part(-1)}}
	types := func(parts []TypeCarry) (out []*Type) {
		for _, tc := range parts {
			typ := &Type{}
			for range tc.Props {
				typ.Props = append(typ.Props, &catalog.Property{Type: value.Of(value.I32)})
			}
			out = append(out, typ)
		}
		return out
	}
	middle, to := &Schema{Nodes: types(a.Nodes), Edges: types(a.Edges)}, &Schema{Nodes: types(b.Nodes), Edges: types(b.Edges)}
	if diff := cmp.Diff(want, a.compose(middle, to, b)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCastVia casts values of a property that had several kinds, and checks that the carry keeps them when it is stored.
func TestCastVia(t *testing.T) {
	typed := func(t value.Type) *Schema {
		return &Schema{Nodes: []*Type{{Props: []*catalog.Property{{Name: "p", Type: t}}}}}
	}
	of := func(k value.Kind) *Schema { return typed(value.Of(k)) }
	one := func() *Carry { return &Carry{Nodes: []TypeCarry{{From: 0, Props: []int{0}}}} }
	kinds := []value.Kind{value.String, value.String, value.Date, value.DateTime, value.DateTime}
	carry := one()
	for i := 2; i < len(kinds); i++ {
		carry = carry.compose(of(kinds[i-1]), of(kinds[i]), one())
	}
	last := of(value.DateTime)
	expectStored(t, carry, last)
	for text, want := range map[string]string{"2026-01-02": "2026-01-02T00:00:00.000Z", "2026-01-02T00:00:00Z": ""} {
		got, ok := carry.Nodes[0].Cast(last.Nodes[0], 0, value.OfString(text))
		if ok != (want != "") || ok && value.Text(got) != want {
			t.Errorf("%s: %v %t, want %q", text, got, ok, want)
		}
	}
	if carry.Nodes[0].Keeps(of(value.String).Nodes[0], last.Nodes[0], 0) || carry.Nodes[0].Widens(of(value.String).Nodes[0], last.Nodes[0], 0) {
		t.Error("the carry does not say that it casts")
	}
	if err := carry.Check(of(value.String), last); err != nil {
		t.Error(err)
	}
	narrow, wide := typed(value.DecimalOf(5, 1)), typed(value.DecimalOf(9, 3))
	carry = one().compose(narrow, wide, one())
	expectStored(t, carry, wide)
	for text, want := range map[string]string{"1234.5": "1234.500", "12345.5": "", "1.25": ""} {
		got, ok := carry.Nodes[0].Cast(wide.Nodes[0], 0, value.OfString(text))
		if ok != (want != "") || ok && value.Text(got) != want {
			t.Errorf("%s: %v %t, want %q", text, got, ok, want)
		}
	}
	direct := one()
	if direct.Nodes[0].Keeps(narrow.Nodes[0], wide.Nodes[0], 0) || direct.Nodes[0].Widens(narrow.Nodes[0], wide.Nodes[0], 0) || len(direct.Nodes[0].Checked(narrow.Nodes[0], wide.Nodes[0])) > 0 {
		t.Error("other digits of a Decimal are not a safe cast")
	}
	if got := direct.Nodes[0].Checked(wide.Nodes[0], narrow.Nodes[0]); len(got) != 1 {
		t.Errorf("checked %v for fewer digits", got)
	}
	if err := carry.Check(of(value.Date), wide); err == nil {
		t.Error("a Date becomes a Decimal")
	}
}

// expectStored stores a carry and reads it.
func expectStored(t *testing.T, carry *Carry, to *Schema) {
	t.Helper()
	r := &codec.Reader{Rest: AppendCarry(nil, carry, to)}
	if diff := cmp.Diff(carry, ReadCarry(r, to), cmpopts.EquateEmpty(), cmp.Comparer(value.Equal)); diff != "" || r.Err != nil || len(r.Rest) > 0 {
		t.Errorf("%v, %d bytes left, -written +read:\n%s", r.Err, len(r.Rest), diff)
	}
}

// TestStart changes the default and the type of a property after it was added, and checks the value that it starts with.
func TestStart(t *testing.T) {
	of := func(p *catalog.Property) *Schema { return &Schema{Nodes: []*Type{{Props: []*catalog.Property{p}}}} }
	prop := func(typ value.Type, def value.Value) *Schema {
		p := &catalog.Property{Name: "p", Type: typ}
		if !def.IsNull() {
			p.Default = &catalog.Literal{Value: def}
		}
		return of(p)
	}
	i32, i64 := value.Of(value.I32), value.Of(value.I64)
	for name, test := range map[string]struct {
		schemas []*Schema // the first one adds the property
		want    value.Value
	}{
		"the default stays":         {[]*Schema{prop(i32, value.OfI32(1)), prop(i32, value.OfI32(1))}, value.OfI32(1)},
		"another default":           {[]*Schema{prop(i32, value.OfI32(1)), prop(i32, value.OfI32(2)), prop(i64, value.OfI64(3))}, value.OfI64(1)},
		"a later default":           {[]*Schema{prop(i32.Optional(), value.Null), prop(i32.Optional(), value.OfI32(2))}, value.Null},
		"the default goes":          {[]*Schema{prop(i32, value.OfI32(1)), prop(i32, value.Null)}, value.OfI32(1)},
		"a later default, required": {[]*Schema{prop(i32, value.Null), prop(i32, value.OfI32(2))}, value.OfI32(2)},
	} {
		carry := &Carry{Nodes: []TypeCarry{{From: 0, Props: []int{-1}}}}
		for i, s := range test.schemas[1:] {
			carry = carry.compose(test.schemas[i], s, &Carry{Nodes: []TypeCarry{{From: 0, Props: []int{0}}}})
		}
		last := test.schemas[len(test.schemas)-1]
		if got := carry.Nodes[0].Start(last.Nodes[0], 0); !value.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		expectStored(t, carry, last)
	}
}

// TestFills changes the backfill of a property after it was added, and checks whether the carry takes the present one for
// the one that gave the rows their values.
func TestFills(t *testing.T) {
	for name, test := range map[string]struct {
		texts []string // of the backfills, of which the first one added the property
		want  bool
	}{
		"it stays":                 {[]string{"a", "a", "a"}, true},
		"another one":              {[]string{"a", "b"}, false},
		"another one, and it back": {[]string{"a", "b", "a"}, false},
		"a later one":              {[]string{"", "a", "a"}, false},
		"it goes":                  {[]string{"a", ""}, false},
	} {
		carry, last := &Carry{Nodes: []TypeCarry{{From: 0, Props: []int{-1}}}}, (*Schema)(nil)
		for i, text := range test.texts {
			p := &catalog.Property{Name: "p", Type: value.Of(value.I32)}
			if text != "" {
				p.Backfill = &catalog.Backfill{Text: text}
			}
			next := &Schema{Nodes: []*Type{{Props: []*catalog.Property{p}}}}
			if i > 0 {
				carry = carry.compose(last, next, &Carry{Nodes: []TypeCarry{{From: 0, Props: []int{0}}}})
			}
			last = next
		}
		if got := carry.Nodes[0].Fills(last.Nodes[0], 0); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
		expectStored(t, carry, last)
	}
}
