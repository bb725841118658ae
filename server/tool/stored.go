package tool

import (
	"context"
	"encoding/json"
	"github.com/omnigraph-go/omnigraph/server/place"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// StoredTool is the tool that runs a stored query.
type StoredTool struct{ StoredQuery }

// Gates returns the grant to invoke the query.
func (t StoredTool) Gates() []Grant {
	return []Grant{{Action: InvokeQuery, Query: t.Info().Name}}
}

// Decode reads the arguments of the tool: {"params": {…}, "branch"?}, the
// run options of a read or a mutation, and the query's parameters in params. The error is
// an *ArgumentError.
func (t StoredTool) Decode(args json.RawMessage) (Call, error) {
	return DecodeEnvelope(t.StoredQuery, Members(args))
}

// DecodeEnvelope is like [StoredTool.Decode] but takes an object from which the caller may have
// read other members.
func DecodeEnvelope(t StoredQuery, o *Object) (Call, error) {
	params := o.Raw("params")
	branch := o.OptString("branch")
	knobs := ReadKnobs
	if t.Info().Mutation {
		knobs = WriteKnobs
	}
	k := knobs(o)
	decoded, err := DecodeArgs(params, t.Params())
	if o.Broken() {
		return nil, o.Done()
	}
	o.Merge("params", err)
	if err := o.Done(); err != nil {
		return nil, misplaced(err.(*ArgumentError), t.Plan())
	}
	call := &StoredCall{Query: t, Args: decoded, Knobs: k}
	if branch != nil {
		call.Branch = *branch
	}
	return call, nil
}

// StoredCall is a call of a stored query with decoded parameters.
type StoredCall struct {
	Query  StoredQuery
	Args   engine.Args
	Branch string // empty for main
	Knobs  Knobs
}

// Grants returns two grants: one to invoke the query, and one for what the query does on
// the branch, a read or a change.
func (c *StoredCall) Grants() []Grant {
	name := c.Query.Info().Name
	inner := c.Knobs.Grant(c.Branch, Stored)
	inner.Query = name
	if c.Query.Info().Mutation {
		inner.Action = Change
	}
	return []Grant{{Action: InvokeQuery, Query: name}, inner}
}

// Run executes the query's plan.
func (c *StoredCall) Run(ctx context.Context, env *Env) (*Outcome, error) {
	q := c.Query.Plan()
	if q.Mutation != nil {
		return RunMutation(ctx, env, q, c.Args, c.Branch, &c.Knobs)
	}
	r, err := c.Knobs.Reading(env, c.Branch)
	if err != nil {
		return nil, err
	}
	return r.Run(ctx, env, q, c.Args)
}

// RunMutation executes a mutation on a branch. An empty branch means main.
func RunMutation(ctx context.Context, env *Env, q *plan.Query, args engine.Args, branch string, k *Knobs) (*Outcome, error) {
	opts := k.Write(env, branch)
	change, err := env.Graph.Mutate(ctx, q, args, opts)
	if err != nil {
		return nil, err
	}
	return &Outcome{Change: &ChangeOutcome{Query: q.Name, Branch: opts.Branch, Change: change, DryRun: k.DryRun}}, nil
}

// knobNames are the members of the envelope other than params.
var knobNames = []string{"branch", "snapshot", "page_token", "dry_run", "idempotency_key", "if_commit"}

// misplaced improves the help for the two most common mistakes: a parameter outside params,
// and a run option inside it.
func misplaced(e *ArgumentError, q *plan.Query) *ArgumentError {
	for _, f := range append([]*ArgumentError{e}, e.Also...) {
		inside, in := strings.CutPrefix(f.Path, "params.")
		switch {
		case in && slices.Contains(knobNames, inside) && !isParam(q, inside):
			f.Help = `put it beside "params", not inside`
		case f.Path != "params" && !slices.Contains(knobNames, f.Path) && isParam(q, f.Path):
			f.Help = `put it inside "params"`
		}
	}
	return e
}

func isParam(q *plan.Query, name string) bool {
	return slices.ContainsFunc(q.Params, func(p plan.Param) bool { return p.Name == name })
}

// LogArguments returns the arguments of the call for the log.
func (c *StoredCall) LogArguments() [][]byte {
	d := place.ArgsDigest(c.Args)
	return [][]byte{d[:]}
}

// LogKey returns the idempotency key for the log.
func (c *StoredCall) LogKey() string { return c.Knobs.IdempotencyKey }
