package tool

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// DecodeStored reads the envelope of a stored-query tool, {"params": {…}, "branch"?},
// and its parameters. The error is an *ArgumentError.
func DecodeStored(t StoredQuery, args json.RawMessage) (Call, error) {
	o := Members(args)
	params := o.Raw("params")
	branch := o.OptString("branch")
	decoded, err := t.DecodeParams(params)
	if o.broken() {
		return nil, o.Done()
	}
	o.Merge("params", err)
	if err := o.Done(); err != nil {
		return nil, misplaced(err.(*ArgumentError), t.Plan())
	}
	call := &StoredCall{Query: t, Args: decoded}
	if branch != nil {
		call.Branch = *branch
	}
	return call, nil
}

// Gates returns the grant that shows a stored query to a caller.
func Gates(t StoredQuery) []Grant {
	return []Grant{{Action: InvokeQuery, Query: t.Info().Name}}
}

// DecodeArgs reads the parameters of an ad-hoc query: nil, null or a JSON object. The
// error is an *ArgumentError whose paths are the parameters' names.
func DecodeArgs(raw json.RawMessage, params []plan.Param) (engine.Args, error) {
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

// StoredCall is the call of a stored query whose parameters are decoded.
type StoredCall struct {
	Query  StoredQuery
	Args   engine.Args
	Branch string // empty for main
}

// Grants returns the permission to invoke the query, and then the one for what the
// query itself does on the branch.
func (c *StoredCall) Grants() []Grant {
	name := c.Query.Info().Name
	inner := Grant{Action: Read, Branch: c.Branch, Query: name, Via: Stored}
	if c.Query.Info().Mutation {
		inner.Action = Change
	}
	return []Grant{{Action: InvokeQuery, Query: name}, inner}
}

// Run executes the query's plan.
func (c *StoredCall) Run(ctx context.Context, env *Env) (*Outcome, error) {
	return RunPlan(ctx, env, c.Query.Plan(), c.Args, c.Branch)
}

// RunPlan executes a plan on a branch, which is main when it is empty.
func RunPlan(ctx context.Context, env *Env, q *plan.Query, args engine.Args, branch string) (*Outcome, error) {
	if branch == "" {
		branch = engine.MainBranch
	}
	if q.Mutation != nil {
		change, err := env.Graph.Mutate(ctx, q, args, engine.WriteOptions{Branch: branch, Actor: env.Actor})
		if err != nil {
			return nil, err
		}
		return &Outcome{Change: &ChangeOutcome{Query: q.Name, Branch: branch, Change: change}}, nil
	}
	at := engine.Target{Branch: branch}
	result, err := env.Graph.Query(ctx, q, args, at)
	if err != nil {
		return nil, err
	}
	return &Outcome{Read: &ReadOutcome{Query: q.Name, Target: at, Result: result}}, nil
}

// misplaced improves the help for the two commonest slips: a parameter outside of
// params, and the branch inside.
func misplaced(e *ArgumentError, q *plan.Query) *ArgumentError {
	for _, f := range append([]*ArgumentError{e}, e.Also...) {
		switch {
		case f.Path == "params.branch" && !isParam(q, "branch"):
			f.Help = `put it beside "params", not inside`
		case f.Path != "params" && f.Path != "branch" && isParam(q, f.Path):
			f.Help = `put it inside "params"`
		}
	}
	return e
}

func isParam(q *plan.Query, name string) bool {
	return slices.ContainsFunc(q.Params, func(p plan.Param) bool { return p.Name == name })
}
