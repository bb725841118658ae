package mutate

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/planner"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Explain returns one operator for each statement of a mutation. The mutation must fit the
// snapshot's schema. If the match of a block does not fit, the error is that of [Bind].
func Explain(ctx context.Context, q *plan.Query, snap *version.Snapshot) ([]*engine.Operator, error) {
	text := plan.SpellerOf(q)
	var list []*engine.Operator
	for _, s := range q.Mutation.Statements {
		each, ok := s.(plan.ForEach)
		if !ok {
			list = append(list, explainStatement(text, snap, s))
			continue
		}
		op := &engine.Operator{Name: "for each", Detail: "match"}
		if each.Read == nil {
			op.Detail = "element of " + text.Expr(each.List)
		} else {
			match := matchQuery(q, each.Read)
			prog, err := planner.Bind(ctx, match, snap)
			if err != nil {
				return nil, err
			}
			found, err := prog.Explain(ctx, match)
			if err != nil {
				return nil, err
			}
			op.Estimate, op.Children = found.Estimate, append(op.Children, found)
		}
		for _, inner := range each.Statements {
			op.Children = append(op.Children, explainStatement(text, snap, inner))
		}
		list = append(list, op)
	}
	return list, nil
}

// explainStatement returns the operator of an insert, an update or a delete.
func explainStatement(text plan.Speller, snap *version.Snapshot, s plan.Statement) *engine.Operator {
	entity, typ := plan.Target(s)
	op := &engine.Operator{Detail: entity.String() + " " + typ, Estimate: 1}
	switch s := s.(type) {
	case plan.Insert:
		switch op.Name = "insert"; {
		case s.Upsert:
			op.Name = "upsert"
		case s.New:
			op.Name = "insert new"
		}
		return op
	case plan.Update:
		op.Name = "update"
	case plan.Delete:
		op.Name = "delete"
	}
	_, where := plan.Written(s)
	found := affected(text, snap, entity, typ, where)
	op.Estimate, op.Children = found.Estimate, []*engine.Operator{found}
	return op
}

// affected returns the operator that finds the entities that satisfy the predicates. It chooses the
// operator as Write.matches does, but without considering whether a value is null or has the key's
// kind, because only the run shows that.
func affected(text plan.Speller, snap *version.Snapshot, entity plan.Entity, typ string, where []plan.Pred) *engine.Operator {
	t := snap.Schema.Type(entity, typ)
	live := float64(snap.Table(entity, t.Index).Live())
	op := &engine.Operator{Name: "scan", Detail: t.Name + " by " + text.Preds(where), Estimate: live}
	for _, p := range where {
		if p.Op == plan.Eq {
			op.Estimate *= ir.EqualShare
		} else {
			op.Estimate *= ir.OtherShare
		}
	}
	for _, p := range where {
		at, isProp := t.Prop(p.Name)
		byID := isProp && len(t.Key) == 1 && t.Key[0] == at || !isProp && p.Name == "id"
		if byID && (p.Op == plan.Eq || p.Op == plan.In) {
			op.Name, op.Estimate = "lookup", 1
			return op
		}
	}
	for _, p := range where {
		if _, isProp := t.Prop(p.Name); !isProp && p.Op == plan.Eq {
			end := t.From
			if p.Name == "to" {
				end = t.To
			}
			op.Name, op.Estimate = "expand", live/max(1, float64(snap.Nodes(end).Live()))
			return op
		}
	}
	return op
}
