package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// alternatives sometimes adds further edge types to a traversal of the given edge, and returns the
// types of the nodes at the ends. One end of the traversal may still be open. All edges give an end at a variable over an interface
// the same type. If alternatives sets
// t.Walk, the further edges may lead between any types. Otherwise they have the same ends as the
// given edge.
func (r *readDraw) alternatives(t *plan.Traverse, edge *catalog.Edge) (from, to string) {
	from, to = edge.From, edge.To
	if !r.percent(35) {
		return from, to
	}
	t.Walk = r.percent(65)
	others := slices.DeleteFunc(slices.Clone(r.drawer.schema.Edges), func(e *catalog.Edge) bool {
		return e.Name == edge.Name || e.HasInterfaceEnd() || (!t.Walk || r.shared(t.From)) && e.From != from || (!t.Walk || r.shared(t.To)) && e.To != to
	})
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	alike := from == to
	for _, e := range others[:min(len(others), r.between(1, 2))] {
		t.Or = append(t.Or, e.Name)
		alike = alike && e.From == e.To
		if t.Walk && r.percent(50) {
			if t.To == plan.NoVar {
				to = e.To
			} else {
				from = e.From
			}
		}
	}
	t.Undirected = t.Walk && alike && r.percent(40)
	return from, to
}

// bindWalk sometimes binds a walk to a variable.
func (r *readDraw) bindWalk(t *plan.Traverse, scope *[]plan.VarID) {
	if len(r.q.Read.Vars) > 7 || !r.percent(55) {
		return
	}
	t.EdgeVar = r.declare(r.name(), plan.Walk, "")
	*scope = append(*scope, t.EdgeVar)
	if r.ends == nil {
		r.ends = map[plan.VarID][2]plan.VarID{}
	}
	ends := [2]plan.VarID{t.From, t.To}
	if r.percent(35) {
		slices.Reverse(ends[:])
	}
	r.ends[t.EdgeVar] = ends
}

// walkPart returns a fact about a walk.
func (r *readDraw) walkPart(v plan.VarID, f plan.WalkFact) plan.Expr {
	return plan.WalkPart{Var: v, Fact: f, From: r.ends[v][0], To: r.ends[v][1]}
}

// walkFilter draws a condition on a walk.
func (r *readDraw) walkFilter(v plan.VarID) plan.Clause {
	hops := r.walkPart(v, plan.WalkHops)
	switch draw := r.IntN(100); {
	case draw < 10:
		return plan.Filter{Cond: plan.NullTest{Expr: hops, Not: r.percent(60)}}
	case draw < 30:
		return plan.Filter{Cond: r.compare(r.walkPart(v, plan.WalkTypes), plan.Contains, stringType, value.OfString(pick(r.drawer, r.schemaNodes()).Name))}
	case draw < 45:
		text := "n1"
		if ids := r.ids[key(plan.Node, pick(r.drawer, r.schemaNodes()).Name)]; len(ids) > 0 {
			text = pick(r.drawer, ids)
		}
		return plan.Filter{Cond: r.compare(r.walkPart(v, plan.WalkNodes), plan.Contains, stringType, value.OfString(text))}
	}
	return plan.Filter{Cond: r.compare(hops, r.op(), i32Type, value.OfI32(int32(r.IntN(4))))}
}
