package servedgraph

import "context"

// TakeWatchTurn takes a turn of an actor for an evaluation of a watch.
func (g *Graph) TakeWatchTurn(ctx context.Context, actor string) (done func(), err error) {
	return g.watching.take(ctx, actor)
}
