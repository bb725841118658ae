package arguments

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Decode reads the parameters of a query from nil, null or a JSON object. The error is a
// *tool.ArgumentError. Its paths are names of parameters.
func Decode(raw json.RawMessage, params []plan.Param) (engine.Args, error) {
	o := Params(raw)
	args := make(engine.Args, len(params))
	for i, p := range params {
		args[i] = o.Value(p.Name, p.Type)
	}
	if err := o.Done(); err != nil {
		return nil, err
	}
	return args, nil
}
