package exec

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestKeyOf wants a key of an expression with a literal of every kind, the same for equal ones.
func TestKeyOf(t *testing.T) {
	literals := []value.Value{
		value.Null, value.OfString("a"), value.OfBool(true), value.OfI32(1), value.OfI64(1), value.OfU32(1), value.OfU64(1),
		value.OfF32(1), value.OfF64(1), value.OfDate(1), value.OfDateTime(1), value.OfBlob([]byte("a")),
		value.OfVector([]float32{1, 2}), value.OfVector([]float32{1, 3}), value.OfList(value.String, []value.Value{value.OfString("a")}),
	}
	kinds := map[value.Kind]bool{}
	seen := map[string]int{}
	for i, v := range literals {
		kinds[v.Kind()] = true
		prop := plan.Prop{Name: "p"}
		key := keyOf(plan.RRF{First: plan.Nearest{Prop: prop, Vector: plan.Lit{Value: v}}, Second: plan.BM25{Prop: prop, Query: plan.Lit{Value: v}}})
		if again := keyOf(plan.RRF{First: plan.Nearest{Prop: prop, Vector: plan.Lit{Value: v}}, Second: plan.BM25{Prop: prop, Query: plan.Lit{Value: v}}}); again != key {
			t.Errorf("%v has the keys %q and %q", v, key, again)
		}
		if j, known := seen[key]; known && !v.IsNull() && !v.IsList() {
			t.Errorf("%v and %v have the same key %q", literals[j], v, key)
		}
		seen[key] = i
	}
	for k := value.String; k <= value.Vector; k++ {
		if !kinds[k] {
			t.Errorf("no literal of kind %s", k)
		}
	}
}
