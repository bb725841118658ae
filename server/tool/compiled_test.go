package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
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
	args, err := c.DecodeParams(json.RawMessage(`{"name": "a", "kind": "large"}`))
	if err != nil || args[0].Str() != "a" || args[1].Str() != "large" || !args[2].IsNull() {
		t.Errorf("found %v, %v", args, err)
	}
	_, err = c.DecodeParams(json.RawMessage(`{"name": "a", "kind": "larg"}`))
	var bad *tool.ArgumentError
	if !errors.As(err, &bad) || bad.Path != "kind" || !strings.Contains(bad.Error(), "large") {
		t.Errorf("found %v, wanted a fault of kind that names large", err)
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
			t.Errorf("panics with %q, wanted the query and what to run", p)
		}
	}()
	c.Plan()
}
