package naive

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Explain returns one operator for a whole read, or one per statement of a mutation, because the
// model has no plan.
func (g *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	if q.AsOf != nil && analyze && g.fault != AsOfIgnored {
		pinned, err := g.pin(ctx, q, args, at)
		if err != nil {
			return nil, err
		}
		at = pinned
	}
	if err := g.Bind(ctx, q, at); err != nil {
		return nil, err
	}
	s, head, err := g.at(ctx, at)
	if err != nil {
		return nil, err
	}
	out := &engine.Explanation{Commit: head.ID, Analyzed: analyze}
	if q.Mutation != nil {
		if analyze {
			return nil, &engine.BadArgument{Param: "analyze", Detail: "a mutation cannot be analyzed, because that would run it; name a read"}
		}
		for range q.Mutation.Statements {
			out.Plan = append(out.Plan, &engine.Operator{Name: "write", Estimate: 1})
		}
		return out, nil
	}
	op := &engine.Operator{Name: "try every assignment", Estimate: 1}
	for _, v := range q.Read.Vars {
		switch v.Entity {
		case plan.Edge:
			op.Estimate *= float64(len(s.edges[v.Type]))
		case plan.Node:
			op.Estimate *= float64(len(s.nodes[v.Type]))
		case plan.Interface:
			op.Estimate *= float64(len(s.sorted(v.Entity, v.Type)))
		case plan.Walk: // it follows from its ends
		}
	}
	out.Plan = []*engine.Operator{op}
	if !analyze {
		return out, nil
	}
	if args, err = checkArgs(q, args, g.fault); err != nil {
		return nil, err
	}
	if s, err = g.then(s, q, args, instant(at), at.Rights); err != nil {
		return nil, err
	}
	rows, err := newEvaluation(g, s, q, args, instant(at)).rows()
	if err != nil {
		return nil, err
	}
	n := int64(len(rows))
	op.Rows = &n
	return out, nil
}
