package pagetoken

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func TestDigests(t *testing.T) {
	lists := [][]value.Value{
		nil, {value.Null}, {value.OfString("")}, {value.OfString("ab")}, {value.OfString("a"), value.OfString("b")},
		{value.OfI64(1)}, {value.OfI32(1)}, {value.OfBool(true)}, {value.OfF64(1)}, {value.OfBlob([]byte("ab"))},
		{value.OfVector([]float32{1, 2})}, {value.OfVector([]float32{1})},
		{value.OfList(value.String, []value.Value{value.OfString("ab")})}, {value.OfList(value.String, nil)},
	}
	seen := map[Digest]int{}
	for i, l := range lists {
		d := ArgsDigest(l)
		if j, ok := seen[d]; ok {
			t.Errorf("%v and %v look alike", lists[j], l)
		}
		seen[d] = i
		if d != ArgsDigest(l) {
			t.Errorf("%v has two digests", l)
		}
	}
	a, b := &plan.Query{Name: "q", Read: &plan.Read{Limit: 1}}, &plan.Query{Name: "q", Read: &plan.Read{Limit: 2}}
	again := *a
	if PlanDigest(a) == PlanDigest(b) || PlanDigest(a) != PlanDigest(&again) {
		t.Error("plans and digests do not go together")
	}
}
