package servedgraph

import (
	"context"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// WatchRest is the least time between two runs of the query of a watch in one stream. Commits in between are told together.
	WatchRest = time.Second

	// maxEvaluations is the number of evaluations of watches that run at once for an actor, with its agents, on one graph.
	maxEvaluations = 2
)

// watchTurns lets the evaluations of watches of one actor wait for each other. The zero value is ready for use.
type watchTurns struct {
	mu     sync.Mutex
	actors map[string]*actorTurns // those with evaluations; guarded by mu
}

// actorTurns are the evaluations of one actor.
type actorTurns struct {
	slots chan struct{} // has an element for each evaluation that runs
	users int           // evaluations that run or wait; guarded by the mutex of the watchTurns
}

// take waits until an evaluation of an actor may run. The caller calls `done` after it. The error is that of the context.
func (t *watchTurns) take(ctx context.Context, actor string) (done func(), err error) {
	t.mu.Lock()
	a := t.actors[actor]
	if a == nil {
		if t.actors == nil {
			t.actors = map[string]*actorTurns{}
		}
		a = &actorTurns{slots: make(chan struct{}, maxEvaluations)}
		t.actors[actor] = a
	}
	a.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if a.users--; a.users == 0 {
			delete(t.actors, actor)
		}
	}
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// takeTurn waits for the turn of a call that evaluates a watch. It does nothing for other calls.
func (g *Graph) takeTurn(ctx context.Context, actor *access.Actor, call tool.Call) (done func(), err error) {
	if w, ok := call.(*operations.ReadWatch); !ok || w.Hold {
		return func() {}, nil
	}
	return g.watching.take(ctx, access.IDOf(actor))
}
