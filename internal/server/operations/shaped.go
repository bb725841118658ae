package operations

import (
	"context"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Shaped runs a call and converts its answer to the form of a transport. The function `shape` gets the value of the
// outcome, which must be an A.
func Shaped[A any](call tool.Call, shape func(A) any) tool.Call {
	return &shaped{call, func(v any) any { return shape(v.(A)) }}
}

// shaped is a call with a converted answer.
type shaped struct {
	tool.Call
	shape func(v any) any
}

// Unwrap returns the call whose answer is converted. The log describes that call.
func (c *shaped) Unwrap() tool.Call { return c.Call }

// Run implements [tool.Call].
func (c *shaped) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	out, err := c.Call.Run(ctx, env)
	if err != nil {
		return nil, err
	}
	out.Value = c.shape(out.Value)
	return out, nil
}
