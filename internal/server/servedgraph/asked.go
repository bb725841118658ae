package servedgraph

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file has the answers to what a call asks while it runs.

var (
	_ tool.Server            = (*running)(nil)
	_ operations.QueryServer = (*running)(nil)
)

// Queries implements [tool.Server].
func (r *running) Queries(ctx context.Context) []tool.StoredQuery {
	return r.g.SeenQueries(ctx, r.actor)
}

// Require implements [tool.Server].
func (r *running) Require(grants ...tool.Grant) error { return r.g.access.Require(r.actor, grants...) }

// MayRead implements [tool.Server].
func (r *running) MayRead() bool { return r.own && r.g.access.MayRead(r.actor, r.grants) }

// AsOf implements [tool.Server].
func (r *running) AsOf(ctx context.Context, at engine.Target) (string, error) {
	s, err := r.g.engine.Snapshot(ctx, at)
	if err != nil {
		return "", err
	}
	base := r.base()
	if base == nil || s.Commit.Branch == base.Branch.Name() {
		return s.Commit.ID, nil
	}
	made, err := r.g.access.AtCommit(ctx, r.actor, tool.Need{Action: base.Action, Commit: s.Commit.ID, Query: base.Query, Via: base.Via})
	var missing *engine.NotFound
	if errors.As(err, &missing) { // the id of a commit that the caller may not read is none of its business
		err = &engine.NotFound{What: "commit at or before", Name: at.AsOf.Format(time.RFC3339Nano)}
	}
	if err != nil {
		return "", err
	}
	if err := r.g.access.Require(r.actor, made); err != nil {
		return "", err
	}
	grants := []tool.Grant{made} // the first one to read decides on the rights
	for _, g := range r.grants {
		if g.Action != base.Action {
			grants = append(grants, g)
		}
	}
	r.grants, r.env.Graph, r.out.Rights = grants, r.g.engine, ""
	r.reads, r.own = r.reads && r.g.access.ReadsTargets(r.actor, r.grants), true
	// The token of a page is opened before, and each page asks for the rights again, so its owner stays.
	owner := r.env.PageOwner
	err = r.restrict(ctx)
	r.env.PageOwner = owner
	return s.Commit.ID, err
}

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

// QueryPublisher implements [operations.QueryServer].
func (r *running) QueryPublisher() operations.QueryPublisher { return r.g.publisher }

// QueryTaken implements [operations.QueryServer]. A query has the name, a tool has it, or the policy names it, so that the query would
// have rights that nobody gave it.
func (r *running) QueryTaken(name string) string {
	g := r.g
	_, query := g.queries[name]
	_, listed := g.tools[name]
	isTool := func(q tool.StoredQuery) bool { return q.Descriptor().Name == name }
	left := slices.ContainsFunc(g.leftOut, func(l LeftOut) bool { return l.Name == name })
	p, ok := g.access.Authorizer().(interface{ NamesQuery(name string) bool })
	switch {
	case query || listed || left || slices.ContainsFunc(g.stored, isTool):
		return "the graph has a query or a tool with the name " + name
	case ok && p.NamesQuery(name):
		return "the policy names the query " + name + " already, which would give it rights of its own"
	}
	return ""
}

// Resembling implements [operations.QueryServer].
func (r *running) Resembling(ctx context.Context, text string, n int) []string {
	return metatools.Resembling(text, r.Queries(ctx), n)
}
