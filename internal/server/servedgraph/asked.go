package servedgraph

import (
	"context"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file has the answers to what a call asks while it runs.

var _ tool.Server = (*running)(nil)

// Queries implements [tool.Server].
func (r *running) Queries(ctx context.Context) []tool.StoredQuery {
	return r.g.SeenQueries(ctx, r.actor)
}

// Require implements [tool.Server].
func (r *running) Require(grants ...tool.Grant) error { return r.g.access.Require(r.actor, grants...) }

// MayRead implements [tool.Server].
func (r *running) MayRead() bool { return r.own && r.g.access.MayRead(r.actor, r.grants) }

// AllowedAs implements [tool.Server].
func (r *running) AllowedAs(actor string, groups []string, grant tool.Grant) bool {
	return r.g.access.AllowedAs(r.actor, actor, groups, grant)
}

// InGroup implements [tool.Server].
func (r *running) InGroup(actor string, groups []string, group string) bool {
	return r.g.access.InGroupAs(r.actor, actor, groups, group)
}

// Owns implements [tool.Server].
func (r *running) Owns(owner, actor string) bool { return r.g.access.Owns(owner, actor) }

// Protection implements [tool.Server].
func (r *running) Protection(branch tool.Branch) *tool.Protection {
	return r.g.access.Protection(branch)
}

// Text implements [tool.Server].
func (r *running) Text(ctx context.Context, argument, text string) (done func(), err error) {
	return r.texts.Admit(ctx, argument, text)
}
