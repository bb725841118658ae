package ir

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestKeyOf checks that expressions with literals of every kind have keys: equal expressions the
// same key, and others different keys.
func TestKeyOf(t *testing.T) {
	literals := []value.Value{
		value.Null, value.OfString("a"), value.OfBlob([]byte("a")), value.OfRaw(value.Decimal, "\x02\x81\x01"),
		value.OfVector([]float32{1, 2}), value.OfVector([]float32{1, 3}), value.OfList(value.String, []value.Value{value.OfString("a")}),
	}
	for _, k := range value.Kinds() {
		if k.HasBits() {
			literals = append(literals, value.OfBits(k, 1))
		}
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
	for _, k := range value.Kinds() {
		if !kinds[k] {
			t.Errorf("no literal of kind %s", k)
		}
	}
}
