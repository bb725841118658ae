package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// inTieOrder returns the matches in the order of the ids that break ties between rows.
func (ev *evaluation) inTieOrder(members [][]*entity) [][]*entity {
	ids := func(m []*entity) []value.Value {
		var list []value.Value
		for _, v := range ev.query.Read.Ties {
			list = append(list, ev.tie(v, m)...)
		}
		return list
	}
	sorted := slices.SortedStableFunc(slices.Values(members), func(a, b []*entity) int { return slices.CompareFunc(ids(a), ids(b), order) })
	if ev.g.fault == CollectReversed {
		slices.Reverse(sorted)
	}
	return sorted
}

// collectedNodes returns the matches whose nodes collect lists, in order. It lists variables or ends of edges.
func (ev *evaluation) collectedNodes(of plan.Expr, distinct bool, members [][]*entity) [][]*entity {
	var list [][]*entity
	var nodes []value.Value
	for _, m := range ev.inTieOrder(members) {
		ev.env = m
		node := ev.nodeValue(of)
		again := func(o value.Value) bool { return ev.equalNodes(o, node) }
		if node.IsNull() || distinct && ev.g.fault != DistinctIgnored && slices.ContainsFunc(nodes, again) {
			continue
		}
		list, nodes = append(list, m), append(nodes, node)
	}
	ev.checkCollected(len(list))
	return list
}

// nodeRecords returns a list of nodes as a column of records.
func (ev *evaluation) nodeRecords(a plan.Agg, of []plan.Field) cell {
	nodes, _ := a.CollectedNodes()
	env := ev.env
	var out cell
	for _, m := range ev.collectedNodes(nodes, a.Distinct, ev.members) {
		ev.env = m
		out.list = append(out.list, ev.cell(plan.Column{Expr: nodes, Fields: of}))
	}
	ev.env = env
	return out
}

// checkCollected records an error if collect gathers too many values.
func (ev *evaluation) checkCollected(n int) {
	if n > plan.MaxCollected {
		ev.err = &engine.TooLarge{Resource: "values that collect gathers", Limit: plan.MaxCollected, Actual: int64(n)}
	}
}

// kindOf returns the kind of the values of an expression that collect takes.
func (ev *evaluation) kindOf(e plan.Expr) value.Kind {
	switch e := e.(type) {
	case plan.Lit:
		return e.Value.Kind()
	case plan.ParamRef:
		return ev.query.Params[e.Index].Type.Kind
	case plan.Prop:
		return e.Type.Kind
	case plan.ID, plan.Endpoint, plan.Whole:
		return value.String
	case plan.WalkPart:
		return e.Fact.Type().Kind
	case plan.Origin:
		return e.Fact.Type().Kind
	case plan.Now:
		return value.DateTime
	case plan.Matched, plan.Test, plan.Holds:
		return value.Bool
	case plan.BM25, plan.Nearest, plan.RRF:
		return value.F64
	case plan.Apply:
		return e.Type.Kind
	case plan.Member:
		return e.Type.Kind
	case plan.BlockAgg:
		arg := value.Type{}
		if e.Arg != nil {
			arg.Kind = ev.kindOf(e.Arg)
		}
		return e.Func.Row().Result(arg).Kind
	case plan.Agg, plan.BlockRows:
	}
	panic("naive: collect does not take an aggregate")
}
