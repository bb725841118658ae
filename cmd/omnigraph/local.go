package main

import (
	"context"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// local is the graph of a store. Every operation goes through the served graph, which checks the
// policy.
type local struct {
	engine.Graph
	served *servedgraph.Graph // checks the policy
	actor  *access.Actor      // who makes the calls
}

// operation is a tool.Call that only this command uses.
type operation struct {
	needs []tool.Need                                                      // permissions that the actor needs
	run   func(ctx context.Context, env *tool.Env) (answer any, err error) // performs the operation after the grants are checked
}

// Needs implements [tool.Call].
func (o *operation) Needs() []tool.Need { return o.needs }

// Run implements [tool.Call].
func (o *operation) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	answer, err := o.run(ctx, env)
	return &tool.Outcome{Value: answer}, err
}

// call runs, on the local graph, an operation that a server offers too. It decodes the answer into
// `answer`, which must be a pointer.
func (l *local) call(ctx context.Context, name string, call tool.Call, answer any) error {
	a, err := l.served.Do(ctx, l.actor, name, call, encoding.Options{})
	if err != nil {
		return err
	}
	return json.Unmarshal(a.JSON, answer)
}

// runOptions converts the options of a write.
func runOptions(opts engine.WriteOptions) queryrun.Options {
	return queryrun.Options{DryRun: opts.DryRun, IdempotencyKey: opts.IdempotencyKey, IfCommit: opts.IfCommit}
}
