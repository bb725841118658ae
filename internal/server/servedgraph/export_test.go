package servedgraph

import (
	"context"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

// TakeWatchTurn takes a turn of an actor for an evaluation of a watch.
func (g *Graph) TakeWatchTurn(ctx context.Context, actor string) (done func(), err error) {
	return g.watching.take(ctx, actor)
}

// Deliveries returns a function that looks at all webhooks once, and waits until what was due is done.
func (g *Graph) Deliveries() (round func(context.Context)) {
	d := newDeliverer(g)
	return func(ctx context.Context) {
		d.round(ctx)
		d.running.Wait()
	}
}

// StoreAndRestore returns an actor as the state of a watch keeps it.
func StoreAndRestore(a *access.Actor, types plan.Claims) (*access.Actor, error) {
	stored, err := storeActor(a)
	if err != nil {
		return nil, err
	}
	return restoreActor(stored, types)
}
