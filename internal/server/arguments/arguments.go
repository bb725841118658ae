package arguments

import (
	"encoding/json"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Decode reads the parameters of a query from nil, null or a JSON object. A parameter that is absent
// has its default, and the others are checked against their annotations. The error is a
// *tool.ArgumentError. Its paths are names of parameters.
func Decode(raw json.RawMessage, params []plan.Param) (engine.Args, error) {
	o := Params(raw)
	args := make(engine.Args, len(params))
	for i := range params {
		args[i] = o.param(&params[i])
	}
	if err := o.Done(); err != nil {
		return nil, err
	}
	return args, nil
}

// param returns the argument of a parameter: the named member, or the default if the member is absent.
// It notes a fault if the member violates the annotations of the parameter.
func (o *Object) param(p *plan.Param) value.Value {
	t := p.Type
	t.Nullable = p.Optional()
	v := o.Value(p.Name, t)
	if v.IsNull() {
		return p.Default
	}
	if at, err := p.Check(v); err != nil {
		path := p.Name
		if at >= 0 {
			path += "[" + strconv.Itoa(at) + "]"
		}
		o.Fail(path, err.Error(), "")
	}
	return v
}
