package eval

import (
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// maxWalked is the number of nodes and edges that the walks of one run may visit, unless
// Options.Walked is set. Visiting that many takes seconds.
const maxWalked = 1 << 31

// walkBudget counts the nodes and edges that the walks of a run visit.
type walkBudget struct {
	Walked int64 // visited so far
	Most   int64 // maximum that the run may visit
}

// Walk adds n to the number of nodes and edges that the walks of the run have visited. The error is
// a *engine.TooLarge, or that of tick.
func (ev *Evaluator) Walk(n int) error {
	if ev.Walked += int64(n); ev.Walked > ev.Most {
		return &engine.TooLarge{Resource: walkedResource, Limit: ev.Most, Actual: ev.Walked}
	}
	return ev.Tick(n)
}

// walkedResource names the resource that Evaluator.Walk bounds.
const walkedResource = "nodes and edges that the walks of one query visit"

// InWalk adds the text of a walk's traversal to an error of Evaluator.Walk. It returns any other
// error unchanged.
func (ev *Evaluator) InWalk(err error, t *plan.Traverse) error {
	var large *engine.TooLarge
	if err == nil || !errors.As(err, &large) || large.Resource != walkedResource || large.Hint != "" {
		return err
	}
	text := plan.SpellerOf(&plan.Query{Params: ev.Params, Read: ev.Read}).Traverse(*t)
	return &engine.TooLarge{Resource: large.Resource, Limit: large.Limit, Actual: large.Actual,
		Hint: "lower the bounds of the walk " + text + ", or start it from fewer nodes"}
}
