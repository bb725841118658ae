package arguments

import (
	"encoding/json"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Decode reads the parameters of a query from nil, null or a JSON object. It replaces an absent
// parameter by its default, and checks the other parameters against their annotations. An error is
// a *tool.ArgumentError, in which the paths are names of parameters.
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

// param returns the argument of a parameter: the member with its name, or the default if the member
// is absent. It records a fault if the member violates the annotations of the parameter.
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
