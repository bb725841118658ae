package tool_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func compiled() *tool.Compiled {
	return &tool.Compiled{
		Query: tool.QueryInfo{Name: "find"},
		Tool:  tool.Descriptor{Name: "find-it"},
		Enums: [][]string{nil, {"small", "large"}},
		Encoded: plan.Encode(&plan.Query{Name: "find", Read: &plan.Read{}, Params: []plan.Param{
			{Name: "name", Type: value.Of(value.String)}, {Name: "kind", Type: value.Of(value.String)}, {Name: "size", Type: value.Of(value.I32).Optional()},
		}}),
	}
}

// TestCompiledDecodesOnce gets the plan from several goroutines. All must get the same one.
func TestCompiledDecodesOnce(t *testing.T) {
	c := compiled()
	plans := make([]*plan.Query, 8)
	var work sync.WaitGroup
	for i := range plans {
		work.Go(func() { plans[i] = c.Plan() })
	}
	work.Wait()
	for _, p := range plans {
		if p != plans[0] || p.Name != "find" {
			t.Errorf("found the plans %p and %p of %s", p, plans[0], p.Name)
		}
	}
}

func TestCompiledParams(t *testing.T) {
	c := compiled()
	params := c.Params()
	if len(params) != 3 || params[0].Type.Enum != nil || !slices.Equal(params[1].Type.Enum, []string{"small", "large"}) || params[2].Type.Enum != nil {
		t.Errorf("found the parameters %+v, expected the enum of the second", params)
	}
	if enum := c.Plan().Params[1].Type.Enum; enum != nil {
		t.Errorf("the plan has the enum %v, which the query does not declare", enum)
	}
}

func TestCompiledByAnotherVersion(t *testing.T) {
	c := compiled()
	c.Encoded = "\xff" + c.Encoded[1:]
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "stored query find") || !strings.Contains(p, "run gq generate") {
			t.Errorf("panics with %q, expected the query and what to run", p)
		}
	}()
	c.Plan()
}
