package service

import "context"

type actorKey struct{}

// WithActor returns a context that carries who the request comes from.
func WithActor(ctx context.Context, a *Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns who the request comes from, or nil when nobody was put into the
// context: every operation denies the nil actor.
func ActorFrom(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey{}).(*Actor)
	return a
}
