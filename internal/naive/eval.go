package naive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// eval returns the value of an expression other than an aggregate or a whole node.
func (ev *evaluation) eval(e plan.Expr) value.Value {
	switch e := e.(type) {
	case plan.Lit:
		return e.Value
	case plan.ParamRef:
		return ev.args[e.Index]
	case plan.Prop:
		if ev.query.Read.Vars[e.Var].Entity == plan.Interface && e.Name == catalog.TypeProperty {
			return ev.typeName(ev.env[e.Var])
		}
		return ev.env[e.Var].props[e.Name]
	case plan.ID:
		return idOf(ev.env[e.Var])
	case plan.Endpoint:
		if ev.env[e.Var] == nothing {
			return value.Null
		}
		if e.To {
			return value.OfString(ev.env[e.Var].to)
		}
		return value.OfString(ev.env[e.Var].from)
	case plan.EndNode:
		return ev.endNode(e)
	case plan.Origin:
		return ev.origin(e)
	case plan.WalkPart:
		return ev.walkPart(e)
	case plan.Now:
		return ev.now
	case plan.Matched:
		return value.OfBool(ev.matchesText(e.Match))
	case plan.BM25:
		return ev.bm25(e)
	case plan.Nearest:
		return ev.nearest(e)
	case plan.RRF:
		return ev.fused(e)
	case plan.Apply:
		v, undefined := ev.g.apply(e, ev.eval)
		if undefined && e.Type.Kind == value.Decimal {
			ev.err = errDigits
		}
		return v
	case plan.Test:
		return value.OfBool(ev.isTrue(e.Cond))
	case plan.Holds:
		return value.OfBool(ev.truth(e))
	case plan.BlockAgg:
		return ev.blockAgg(e)
	case plan.Member:
		return ev.member(e)
	case plan.Agg:
		if ev.members != nil {
			return ev.ofGroup(e)
		}
	case plan.Whole, plan.BlockRows:
	}
	panic("naive: this expression is not allowed here")
}

// idOf returns the id of an entity, or null for nothing.
func idOf(e *entity) value.Value {
	if e == nothing {
		return value.Null
	}
	return value.OfString(e.id)
}

// isTrue reports whether a condition holds.
func (ev *evaluation) isTrue(c plan.Cond) bool {
	switch c := c.(type) {
	case plan.Compare:
		if c.Unless != plan.NoParam && ev.args[c.Unless].IsNull() && ev.g.fault != OptionalKept {
			return true
		}
		if isNode(c.Left) || isNode(c.Right) {
			return ev.sameNodes(c.Op, c.Left, c.Right)
		}
		return ev.g.compare(c.Op, ev.eval(c.Left), ev.eval(c.Right))
	case plan.TextMatch:
		return ev.matchesText(c)
	case plan.NullTest:
		return ev.eval(c.Expr).IsNull() != c.Not
	}
	panic("naive: unknown condition")
}

// compare applies a comparison operator. The result is false if either side is null.
func (g *Graph) compare(op plan.Op, l, r value.Value) bool {
	if l.IsNull() || r.IsNull() {
		return g.fault == NullEqualsNull && op == plan.Eq && l.IsNull() && r.IsNull() ||
			g.fault == NullUnequal && op == plan.Ne
	}
	switch op {
	case plan.Contains:
		return g.contains(l, r)
	case plan.In:
		return g.in(l, r)
	case plan.Matches:
		return g.matchesPattern(l.Str(), r.Str())
	case plan.StartsWith:
		switch g.fault {
		case StartsAnywhere:
			return strings.Contains(l.Str(), r.Str())
		case ContainsFolds:
			return strings.HasPrefix(strings.ToLower(l.Str()), strings.ToLower(r.Str()))
		}
		return strings.HasPrefix(l.Str(), r.Str())
	}
	order, ok := value.Compare(l, r)
	if g.fault == RoundedCompare && l.Kind().IsNumeric() && r.Kind().IsNumeric() {
		order, ok = cmp.Compare(toFloat(l), toFloat(r)), true
	}
	if !ok {
		return false
	}
	switch op {
	case plan.Eq:
		return order == 0
	case plan.Ne:
		return order != 0
	case plan.Lt:
		return order < 0
	case plan.Le:
		return order < 0 || order == 0 && g.fault != StrictBounds
	case plan.Gt:
		return order > 0
	case plan.Ge:
		return order > 0 || order == 0 && g.fault != StrictBounds
	}
	panic("naive: unknown operator")
}

// contains evaluates the operator contains. The left side of this operator is a list or a text.
func (g *Graph) contains(l, r value.Value) bool {
	if !l.IsList() {
		if g.fault == ContainsFolds {
			return strings.Contains(strings.ToLower(l.Str()), strings.ToLower(r.Str()))
		}
		return strings.Contains(l.Str(), r.Str())
	}
	return slices.ContainsFunc(l.Elems(), func(e value.Value) bool {
		if g.fault == MembershipPartial && e.Kind() == value.String {
			return strings.Contains(e.Str(), r.Str())
		}
		order, ok := value.Compare(e, r)
		return ok && order == 0
	})
}

// toFloat returns a number as the nearest float64.
func toFloat(v value.Value) float64 {
	switch v.Kind() {
	case value.F32, value.F64:
		return v.Float()
	case value.U64:
		return float64(v.Uint())
	case value.Decimal:
		f, _ := exact(v).Float64()
		return f
	default:
		return float64(v.Int())
	}
}

// order is the total order for sorting rows. Null comes first. Lists and vectors compare element by
// element.
func order(a, b value.Value) int {
	switch {
	case a.IsNull() || b.IsNull():
		return boolInt(!a.IsNull()) - boolInt(!b.IsNull())
	case a.IsList():
		return slices.CompareFunc(a.Elems(), b.Elems(), order)
	case a.Kind() == value.Vector:
		return slices.Compare(a.Vector(), b.Vector())
	}
	c, _ := value.Compare(a, b)
	return c
}

// boolInt returns 1 for true and 0 for false.
func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
