package servedgraph

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file is about actors that may read or change a part of a graph only. See docs/policy.md.

// restrict gives the call the graph that its actor may see, if that is a part of the whole. A stored query that names something hidden
// does not exist then.
func (r *running) restrict(ctx context.Context) error {
	g := r.g
	part, err := g.access.Restriction(ctx, r.actor)
	if part == nil || err != nil {
		return err
	}
	if r.names.pending != nil {
		if err := part.CheckCopy("opening a draft", tool.Branch{}, r.names.Branch(r.names.pendingAs)); err != nil {
			return err
		}
	}
	base := r.base()
	if base != nil {
		if err := r.reduce(part, *base); err != nil {
			return err
		}
	}
	if _, ok := r.call.(*operations.DescribeQuery); ok {
		base = new(access.ReadOn(base.Branch)) // the plan says as much as the actor's own queries do
	}
	r.own = part.ReadsAsMuch(base, r.grants)
	r.reads = r.reads && r.own
	graph := part.Graph(base, r.grants)
	if graph == nil {
		return nil
	}
	r.env.Graph = graph
	var read []tool.Branch
	for _, g := range r.grants {
		if g.Action == tool.Read {
			read = append(read, g.Branch)
		}
	}
	r.record.RecordFilters(restricted.Filters(graph, read...))
	r.out.Rights = restricted.Digest(graph)
	if narrow := r.out.Rights != ""; narrow && !r.part {
		r.part = true
		r.env.PageOwner += ownerRights + r.out.Rights
	}
	return nil
}

// WarnParts logs a warning for each rule that denies a part of the graph that the schema of main lacks.
func (g *Graph) WarnParts(ctx context.Context) {
	checker, ok := g.access.Authorizer().(access.PartChecker)
	if !ok {
		return
	}
	schema, err := g.engine.Schema(ctx, engine.Target{})
	if err != nil {
		return // the first call reports the fault
	}
	for _, fault := range checker.UnknownParts(schema) {
		g.log.WarnContext(ctx, "the policy denies a part of the graph that the schema lacks, so the rule does not hide it; correct the name", "fault", fault)
	}
}

// base returns the grant to read or change the branch that the call is about, or nil if the call has none. A call that describes a
// stored query is about the branch where the query would run. A load that may create its branch is about two of them.
func (r *running) base() *tool.Grant {
	if _, ok := r.call.(*operations.LoadFrom); ok {
		return nil
	}
	if c, ok := r.call.(*operations.DescribeQuery); ok {
		g := queryrun.Tool{StoredQuery: c.Query}.Does()
		g.Branch = r.names.Branch(c.Branch)
		return &g
	}
	for _, g := range r.grants {
		if g.Action == tool.Read || g.Action == tool.Change || g.Action == tool.Export {
			return &g
		}
	}
	return nil
}

// reduce replaces the stored query of the call by what it is for the actor. The error is the one for an unknown query.
func (r *running) reduce(part *access.Restriction, g tool.Grant) error {
	var q *tool.StoredQuery
	switch c := r.call.(type) {
	case *queryrun.Call:
		own := *c
		r.call, q = &own, &own.Query
	case *operations.DescribeQuery:
		own := *c
		r.call, q = &own, &own.Query
	case *operations.ReadWatch:
		q = &c.Query // each call is made for one run
	case *operations.CreateWatch:
		q = &c.Query
	default:
		return nil
	}
	seen := reduced(*q, part.Plan((*q).Plan(), g))
	if seen == nil {
		r.record.RecordHidden(g.Action)
		return &engine.NotFound{What: "stored query", Name: (*q).Info().Name}
	}
	*q = seen
	return nil
}

// reduced returns a stored query with the plan that it has for an actor. It returns nil if there is none.
func reduced(q tool.StoredQuery, p *plan.Query) tool.StoredQuery {
	switch p {
	case nil:
		return nil
	case q.Plan():
		return q
	}
	d := *q.Descriptor()
	d.OutputSchema = nil // it lists the hidden properties
	return &reducedQuery{q, p, &d}
}

// seen returns what the actor may know of a stored query that it may run on some branch: what it is on main, or on another branch if
// main has something hidden that the query names.
func (g *Graph) seen(part *access.Restriction, q tool.StoredQuery) tool.StoredQuery {
	if part == nil {
		return q
	}
	if on := reduced(q, part.Plan(q.Plan(), queryrun.Tool{StoredQuery: q}.Does())); on != nil {
		return on
	}
	d := *q.Descriptor()
	d.OutputSchema = nil
	return &reducedQuery{q, q.Plan(), &d}
}

// reducedQuery is a stored query that returns whole nodes without their hidden properties.
type reducedQuery struct {
	tool.StoredQuery
	plan       *plan.Query
	descriptor *tool.Descriptor
}

// Plan implements [tool.StoredQuery].
func (q *reducedQuery) Plan() *plan.Query { return q.plan }

// Descriptor implements [tool.StoredQuery].
func (q *reducedQuery) Descriptor() *tool.Descriptor { return q.descriptor }

// withoutFigures removes from an error about a limit the amount that exceeds it, which may count hidden entities.
func withoutFigures(err error) error {
	var large *engine.TooLarge
	if !errors.As(err, &large) {
		return err
	}
	short := *large
	short.Actual = 0
	return &short
}
