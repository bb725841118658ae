package exec

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// ExplainMutation returns one operator for each statement of a mutation. The mutation must
// fit the snapshot's schema.
func ExplainMutation(q *plan.Query, snap *version.Snapshot) []*engine.Operator {
	text := plan.SpellerOf(q)
	var list []*engine.Operator
	for _, s := range q.Mutation.Statements {
		switch s := s.(type) {
		case plan.Insert:
			list = append(list, &engine.Operator{Name: "insert", Detail: s.Entity.String() + " " + s.Type, Estimate: 1})
		case plan.Update:
			found := affected(text, snap, plan.Node, s.Type, s.Where)
			list = append(list, &engine.Operator{Name: "update", Detail: "node " + s.Type, Estimate: found.Estimate, Children: []*engine.Operator{found}})
		case plan.Delete:
			found := affected(text, snap, s.Entity, s.Type, s.Where)
			list = append(list, &engine.Operator{Name: "delete", Detail: s.Entity.String() + " " + s.Type, Estimate: found.Estimate, Children: []*engine.Operator{found}})
		}
	}
	return list
}

// affected returns the operator that finds the entities of a predicate in the way Write.matches
// does. Only the run shows whether a value is null or has the key's kind, so affected cannot
// consider that.
func affected(text plan.Speller, snap *version.Snapshot, entity plan.Entity, typ string, where plan.Pred) *engine.Operator {
	t := snap.Schema.Type(entity, typ)
	live := float64(snap.Table(entity, t.Index).Live())
	p, isProp := t.Prop(where.Name)
	detail := t.Name + " by " + text.Pred(where)
	switch {
	case where.Op != plan.Eq:
	case isProp && len(t.Key) == 1 && t.Key[0] == p, !isProp && where.Name == "id":
		return &engine.Operator{Name: "lookup", Detail: detail, Estimate: 1}
	case !isProp:
		end := t.From
		if where.Name == "to" {
			end = t.To
		}
		return &engine.Operator{Name: "expand", Detail: detail, Estimate: live / max(1, float64(snap.Nodes(end).Live()))}
	}
	share := otherShare
	if where.Op == plan.Eq {
		share = equalShare
	}
	return &engine.Operator{Name: "scan", Detail: detail, Estimate: live * share}
}
