package access

import (
	"context"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
)

// actorKey is the context key of the actor.
type actorKey struct{}

// WithActor returns a context that carries the actor that sent the request. If ctx is the context of a
// [requestinfo.Info] that has no actor yet, WithActor adds the actor to ctx and returns ctx.
func WithActor(ctx context.Context, a *Actor) context.Context {
	if requestinfo.Attach(ctx, actorKey{}, a) {
		return ctx
	}
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor that the context carries, or nil if it carries none. Every
// operation denies a nil actor.
func ActorFrom(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey{}).(*Actor)
	return a
}

// GroupsOf returns the groups in the token of an actor. It returns none if the actor is nil.
func GroupsOf(a *Actor) []string {
	if a == nil {
		return nil
	}
	return a.Groups
}

// IDOf returns the id of an actor, or "" for nil.
func IDOf(a *Actor) string {
	if a == nil {
		return ""
	}
	return a.ID
}
