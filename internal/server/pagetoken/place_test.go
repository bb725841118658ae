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
	hop := plan.Traverse{EdgeVar: plan.NoVar, Edge: "Knows", Min: 1, Max: 1}
	walk := hop
	walk.Walk = true
	vars := []plan.Var{{Name: "p"}}
	plans := map[Digest]plan.Read{}
	for _, r := range []plan.Read{{Limit: 1}, {Limit: 2},
		{Vars: vars, Match: []plan.Clause{hop}}, {Vars: vars, Match: []plan.Clause{walk}}} {
		d := PlanDigest(&plan.Query{Name: "q", Read: &r})
		if other, ok := plans[d]; ok {
			t.Errorf("%v and %v look alike", other, r)
		}
		if again := r; d != PlanDigest(&plan.Query{Name: "q", Read: &again}) {
			t.Errorf("%v has two digests", r)
		}
		plans[d] = r
	}
}
