package plan_test

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func TestParamCheck(t *testing.T) {
	ranged := plan.Param{Name: "n", Type: value.Of(value.I32), Bounds: value.Bounds{Max: ptr(value.OfI32(5))}}
	list := plan.Param{Name: "s", Type: value.Type{Kind: value.String, List: true}, Pattern: pattern("^a")}
	texts := func(all ...string) value.Value {
		var elems []value.Value
		for _, s := range all {
			elems = append(elems, value.OfString(s))
		}
		return value.OfList(value.String, elems)
	}
	for _, tt := range []struct {
		p    plan.Param
		v    value.Value
		at   int
		want string
	}{
		{ranged, value.OfI32(5), -1, ""},
		{ranged, value.Null, -1, ""},
		{ranged, value.OfI32(6), -1, "found 6, expected at most 5"},
		{list, texts("a", "ab"), -1, ""},
		{list, texts(), -1, ""},
		{list, texts("a", "b", "c"), 1, `found "b", expected a text that matches ^a`},
	} {
		at, err := tt.p.Check(tt.v)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if at != tt.at || got != tt.want {
			t.Errorf("%s: found %d, %q, expected %d, %q", tt.p.Name, at, got, tt.at, tt.want)
		}
	}
}

func TestWithDefaults(t *testing.T) {
	params := []plan.Param{
		{Name: "a", Type: value.Of(value.I32), Default: value.OfI32(20)},
		{Name: "b", Type: value.Of(value.I32).Optional()},
	}
	args := []value.Value{value.Null, value.Null}
	got := plan.WithDefaults(params, args)
	if !slices.EqualFunc(got, []value.Value{value.OfI32(20), value.Null}, value.Equal) {
		t.Errorf("found %v", got)
	}
	if !args[0].IsNull() {
		t.Error("the caller's arguments changed")
	}
	given := []value.Value{value.OfI32(1), value.OfI32(2), value.OfI32(3)}
	if got := plan.WithDefaults(params, given); &got[0] != &given[0] {
		t.Error("arguments without a null were copied")
	}
	if !params[0].Optional() || !params[1].Optional() || (&plan.Param{Type: value.Of(value.I32)}).Optional() {
		t.Error("Optional is wrong")
	}
}

func TestLimitOf(t *testing.T) {
	fixed, given := plan.Read{Limit: 7}, plan.Read{Limit: 100, LimitBy: &plan.ParamRef{Index: 1}}
	args := []value.Value{value.Null, value.OfI32(3)}
	if fixed.LimitOf(args) != 7 || given.LimitOf(args) != 3 {
		t.Errorf("found the limits %d and %d, expected 7 and 3", fixed.LimitOf(args), given.LimitOf(args))
	}
}
