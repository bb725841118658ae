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
	of := func(k value.Kind) *Schema {
		return &Schema{Nodes: []*Type{{Props: []*catalog.Property{{Name: "p", Type: value.Of(k)}}}}}
	}
	one := func() *Carry { return &Carry{Nodes: []TypeCarry{{From: 0, Props: []int{0}}}} }
	kinds := []value.Kind{value.String, value.String, value.Date, value.DateTime, value.DateTime}
	carry := one()
	for i := 2; i < len(kinds); i++ {
		carry = carry.compose(of(kinds[i-1]), of(kinds[i]), one())
	}
	r := &codec.Reader{Rest: AppendCarry(nil, carry)}
	if diff := cmp.Diff(carry, ReadCarry(r), cmpopts.EquateEmpty()); diff != "" || r.Err != nil {
		t.Errorf("%v, -written +read:\n%s", r.Err, diff)
	}
	last := of(value.DateTime)
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
}
