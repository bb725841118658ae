package lint

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about the bounds of walks.

// idleBounds reports hop bounds that change nothing.
func idleBounds(p *queryPass) {
	r, ok := p.Syntax.Body.(*syntax.Read)
	if !ok {
		return
	}
	everyTraversal(r, func(t *syntax.Traversal) {
		if t.Bounds == nil || t.EdgeVar != nil || len(t.Choice) > 1 {
			return
		}
		e := p.in.Schema.Edge(t.Edges()[0].Value)
		if e == nil || p.chains(e) {
			return
		}
		lo, _ := syntax.Small(t.Bounds.Min)
		hi, _ := syntax.Small(*t.Bounds.Max)
		if lo <= 1 && hi >= 1 {
			at := t.Bounds.Span()
			p.report(at, "remove the bounds", []diag.Edit{{Span: p.withBlanksBefore(at)}},
				"%s goes to a different type, so the bounds change nothing", t.EdgeNames())
		}
	})
}

// chains reports whether an edge can start at a node where another edge of its type ends.
func (p *queryPass) chains(e *catalog.Edge) bool {
	name, shared := e.End(true)
	return p.in.Schema.AtEnd(e, false, name, shared)
}

// walk is a walk of a read, with the comparisons that hold for its rows: those of its block and of
// the blocks around it.
type walk struct {
	plan.Traverse
	source   *syntax.Traversal // the traversal in the query
	compares []plan.Compare    // comparisons in the block and around it
}

// walks lists the walks of a read in source order.
func (p *queryPass) walks() []walk {
	r, ok := p.Syntax.Body.(*syntax.Read)
	if !ok {
		return nil
	}
	// The plan of a query without faults has its traversals in the order of the source.
	var sources []*syntax.Traversal
	walkTraversals(r.Match, func(t *syntax.Traversal) { sources = append(sources, t) })
	var out []walk
	var block func(clauses []plan.Clause, compares []plan.Compare)
	block = func(clauses []plan.Clause, compares []plan.Compare) {
		compares = slices.Clip(compares)
		for _, c := range clauses {
			if f, ok := c.(plan.Filter); ok {
				if cmp, ok := f.Cond.(plan.Compare); ok {
					compares = append(compares, cmp)
				}
			}
		}
		for _, c := range clauses {
			switch c := c.(type) {
			case plan.Traverse:
				if c.Walk {
					out = append(out, walk{c, sources[0], compares})
				}
				sources = sources[1:]
			case plan.Not, plan.Exists, plan.All, plan.Optional:
				block(plan.Block(c), compares)
			case plan.Any:
				for _, alternative := range c.Conds {
					block([]plan.Clause{alternative}, compares)
				}
			case plan.Bind, plan.Filter:
			}
		}
	}
	block(p.Plan.Read.Match, nil)
	return out
}

// changedWalk reports walks that included their start in earlier versions. Those versions knew neither
// alternatives nor bound walks nor edges with an interface at an end.
func changedWalk(p *queryPass) {
	for _, w := range p.walks() {
		e := p.in.Schema.Edge(w.Edge)
		switch {
		case w.Or != nil, w.EdgeVar != plan.NoVar:
		case e.HasInterfaceEnd(), e.From != e.To, w.From == w.To, w.Min == 0:
		case w.Undirected && w.Min > 2: // the shortest closed walk takes one edge forth and back
		case w.apart():
		default:
			p.report(w.source.Bounds.Span(), "write {0,"+w.source.Bounds.Max.Value+"} to join every node with itself; or silence L120 here if the query does not need this", nil,
				"the walk no longer joins a node with itself when a cycle leads back to it")
		}
	}
}

// apart reports whether a comparison prevents the two ends of the walk from being the same node: a
// property of the ends must differ, or one end has a value that the other end must not have.
func (w *walk) apart() bool {
	// given maps each end and property to the index of the parameter that the property must equal.
	given := map[plan.VarID]map[string]int{w.From: {}, w.To: {}}
	w.sides(plan.Eq, func(end plan.VarID, name string, other plan.Expr) {
		if param, ok := other.(plan.ParamRef); ok {
			given[end][name] = param.Index
		}
	})
	found := false
	w.sides(plan.Ne, func(end plan.VarID, name string, other plan.Expr) {
		opposite := w.From
		if end == w.From {
			opposite = w.To
		}
		switch other := other.(type) {
		case plan.ParamRef:
			param, ok := given[opposite][name]
			found = found || ok && param == other.Index
		default:
			v, same := member(other)
			found = found || v == opposite && same == name
		}
	})
	return found
}

// sides looks for comparisons with the operator `op` and, as one operand, a property of an end of
// the walk. It calls `visit` for each such comparison; the argument `other` is the opposite
// operand.
func (w *walk) sides(op plan.Op, visit func(end plan.VarID, name string, other plan.Expr)) {
	for _, c := range w.compares {
		if c.Op != op || c.Unless != plan.NoParam {
			continue
		}
		sides(c, func(one, other plan.Expr) {
			if v, name := member(one); v == w.From || v == w.To {
				visit(v, name, other)
			}
		})
	}
}

// member returns the variable and the name of a property or an id. For another expression, the
// variable is NoVar.
func member(e plan.Expr) (plan.VarID, string) {
	switch e := e.(type) {
	case plan.ID:
		return e.Var, "id"
	case plan.Prop:
		return e.Var, e.Name
	case plan.Lit, plan.ParamRef, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, plan.Agg, plan.Matched, plan.BM25, plan.Nearest, plan.RRF,
		plan.Apply, plan.Test, plan.Holds, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef, plan.BlockAgg, plan.BlockRows, plan.Member:
	}
	return plan.NoVar, ""
}
