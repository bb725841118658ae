package tool

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Caller is who calls a query, which uses it as actor(). If agents act for somebody, it is the one for whom they act.
type Caller struct {
	ID     string                 // actor().id
	Groups []string               // actor().groups: the groups in the caller's token
	Claims map[string]value.Value // actor().NAME: the claims of the caller's token, by name; a claim that is not here is null
}

// Args returns the arguments of the parameters that say who the caller is, in their order; see [plan.Query.OfCaller]. A claim
// that does not have the type of its parameter is null.
func (c *Caller) Args(params []plan.Param) engine.Args {
	if params = params[len(plan.Declared(params)):]; len(params) == 0 {
		return nil
	}
	args := make(engine.Args, len(params))
	for i := range params {
		switch p := &params[i]; p.Caller {
		case plan.CallerID:
			args[i] = value.OfString(c.ID)
		case plan.CallerGroups:
			groups := make([]value.Value, len(c.Groups))
			for j, g := range c.Groups {
				groups[j] = value.OfString(g)
			}
			args[i] = value.OfList(value.String, groups)
		default:
			if v := c.Claims[p.Caller]; v.Kind() == p.Type.Kind && v.IsList() == p.Type.List {
				args[i] = v
			}
		}
	}
	return args
}

// With returns the arguments of all parameters: those from the caller, and after them those that say who the caller is.
// It does not change args.
func (c *Caller) With(params []plan.Param, args engine.Args) engine.Args {
	if more := c.Args(params); more != nil {
		return append(args[:len(args):len(args)], more...)
	}
	return args
}

// callerKey is the context key of a Caller.
type callerKey struct{}

// WithCaller returns a context for the calls of a Go program for a caller. A function of a generated package whose query
// uses actor() needs it on a graph in the program; without it the call fails. On a graph of a server, the server knows the caller from the
// token, and ignores the context.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, &c)
}

// withCaller returns the arguments of the parameters of a query for the caller in the context. Without a caller they
// lack those of actor(), which a graph in the program refuses.
func withCaller(ctx context.Context, params []plan.Param, args engine.Args) engine.Args {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c.With(params, args)
	}
	return args
}
