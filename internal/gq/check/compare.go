package check

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// operators maps the operators of the language to those of plans.
var operators = func() map[string]plan.Op {
	m := map[string]plan.Op{}
	for op := plan.Eq; op <= plan.Matches; op++ {
		m[op.String()] = op
	}
	return m
}()

// filter lowers a comparison in a match.
func (c *checker) filter(left syntax.Operand, op syntax.Token, right syntax.Operand, optional bool, at diag.Span, sc *scope) (plan.Compare, bool) {
	l, okL := c.compared(left, sc)
	r, okR := c.compared(right, sc)
	if !okL || !okR {
		return plan.Compare{}, false
	}
	cmp := plan.Compare{Op: operators[op.Value], Unless: plan.NoParam}
	if _, bare := left.(*syntax.VarRef); bare && cmp.Op == plan.Contains && l.node == "" {
		c.fault(Incomparable, left.Source().Span(), "write a property, as in $p.name contains $word; a variable alone before contains starts a traversal",
			"the left side of contains must be a property or a literal")
		return cmp, false
	}
	if l.node != "" && r.node != "" && (cmp.Op == plan.Eq || cmp.Op == plan.Ne) {
		if !c.sameNode(&cmp, l, r, at) || optional && !c.setUnless(&cmp, at, Incomparable) {
			return cmp, false
		}
		c.info.Compares = append(c.info.Compares, Comparison{Span: at, Cond: cmp})
		return cmp, true
	}
	done, ok := c.sameEnd(&cmp, l, r, at)
	if !done {
		done, ok = c.sameAsArgument(&cmp, l, r, at)
	}
	if !done {
		done, ok = c.sameAsRef(&cmp, l, r, at)
	}
	if done {
		if !ok || optional && !c.setUnless(&cmp, at, Incomparable) {
			return cmp, false
		}
		c.info.Compares = append(c.info.Compares, Comparison{Span: at, Cond: cmp})
		return cmp, true
	}
	if !c.comparable(&l, &r, cmp.Op, left.Source().Span(), right.Source().Span(), at) {
		return cmp, false
	}
	cmp.Left, cmp.Right = l.expr, r.expr
	if optional && !c.setUnless(&cmp, at, Incomparable) {
		return cmp, false
	}
	c.info.Compares = append(c.info.Compares, Comparison{Span: at, Cond: cmp})
	return cmp, true
}

// compared resolves an operand of a condition. It rejects rrf: a rank is computed over the rows
// that remain after the conditions, so no condition can depend on it.
func (c *checker) compared(o syntax.Operand, sc *scope) (typed, bool) {
	if call, ok := o.(*syntax.Call); ok && call.Name.Value == "rrf" {
		c.fault(BadFusion, call.Span(), "use rrf only in return or order", "a condition cannot use rrf")
		return typed{}, false
	}
	_, c.comparing = o.(*syntax.VarRef)
	t, ok := c.operand(o, sc)
	c.comparing = false
	if ok && t.end != "" && c.inHaving {
		c.fault(Incomparable, o.Source().Span(), "compare or test it in match", "%s cannot be compared or tested for null in having", t)
		return t, false
	}
	if ok && t.fields != nil && t.end == "" {
		c.fault(Incomparable, o.Source().Span(), "compare or test a field of a record, as in latest.on", "%s cannot be compared or tested for null", t)
		return t, false
	}
	return t, ok
}

// setUnless sets cmp.Unless to the parameter that an optional condition depends on. It returns
// false if it reported an error instead.
func (c *checker) setUnless(cmp *plan.Compare, at diag.Span, code diag.Code) bool {
	used := slices.Concat(params(cmp.Left), params(cmp.Right))
	for _, i := range used {
		if !c.plan.Params[i].Type.Nullable {
			continue
		}
		if cmp.Unless != plan.NoParam && cmp.Unless != i {
			c.fault(code, at, "compare a property with one of them", "the condition before ? has two optional parameters")
			return false
		}
		cmp.Unless = i
	}
	if cmp.Unless == plan.NoParam {
		help := "add ? to the type of a parameter that the condition uses, or remove the ? after the condition"
		if len(used) == 0 {
			help = "remove the ? after the condition, which uses no parameter"
		}
		if c.hasDefault(cmp.Left) || c.hasDefault(cmp.Right) {
			help = "remove the ? after the condition: a parameter with a default is never null"
		}
		c.fault(code, at, help, "the condition before ? has no optional parameter")
		return false
	}
	return true
}

// comparable checks the types of a comparison and converts a literal to the type of the other
// side.
func (c *checker) comparable(l, r *typed, op plan.Op, atL, atR, at diag.Span) bool {
	for _, side := range []struct {
		t  *typed
		at diag.Span
	}{{l, atL}, {r, atR}} {
		switch {
		case side.t.node != "":
			help := "compare a property or the id of the node"
			if (op == plan.Eq || op == plan.Ne) && !side.t.shared {
				help += ", or declare a parameter of the type " + side.t.node
			}
			c.fault(Incomparable, side.at, help, "a %s node cannot be compared", side.t.node)
			return false
		case !side.t.typ.Kind.IsComparable():
			c.fault(Incomparable, side.at, "", "%s cannot be compared", side.t)
			return false
		}
	}
	switch op {
	case plan.Contains:
		if l.typ.List {
			return c.checkElement(l, r, atR)
		}
		return c.checkStrings(l, r, op, atL, atR, "a list or a String")
	case plan.StartsWith:
		return c.checkStrings(l, r, op, atL, atR, "a String")
	case plan.In:
		return c.member(l, r, atL, atR)
	case plan.Matches:
		return c.pattern(l, r, atL, atR)
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge:
	}
	for _, side := range []struct {
		t  *typed
		at diag.Span
	}{{l, atL}, {r, atR}} {
		if side.t.typ.List {
			c.fault(Incomparable, side.at, "use contains to test for an element, or in to test for one of several values", "a list cannot be compared")
			return false
		}
	}
	switch {
	case l.lit != nil && r.lit == nil:
		return c.adaptLiteral(l, r, atL)
	case r.lit != nil && l.lit == nil:
		return c.adaptLiteral(r, l, atR)
	}
	if !fits(l.typ, r.typ) {
		c.fault(Incomparable, at, decimalHelp(l.typ, r.typ), "cannot compare %s with %s", l, r)
		return false
	}
	return true
}

// adaptLiteral converts a literal to the type of the other side of the comparison. A decimal that
// is compared with an integer stays a decimal, because numbers are compared by value.
func (c *checker) adaptLiteral(lit, other *typed, at diag.Span) bool {
	v, err := convert(lit.lit, other.typ.Required())
	var mm *mismatchError
	switch {
	case err == errFraction:
		return true
	case errors.As(err, &mm):
		c.fault(Incomparable, at, literalHelp(lit.lit, other.typ), "cannot compare %s with %s", other, lit)
		return false
	case err != nil:
		c.fault(Incomparable, at, "", "%v", err)
		return false
	}
	lit.expr, lit.typ = plan.Lit{Value: v}, v.Type()
	return true
}

// checkElement checks the right side of contains when the left side is a list.
func (c *checker) checkElement(l, r *typed, atR diag.Span) bool {
	elem := typed{typ: l.typ.Elem()}
	switch {
	case r.typ.List:
		c.fault(Incomparable, atR, "write one condition for each element", "the right side of contains must be one element, not a list")
		return false
	case r.lit != nil:
		return c.adaptLiteral(r, &elem, atR)
	case !fits(r.typ, elem.typ):
		c.fault(Incomparable, atR, decimalHelp(l.typ, r.typ), "cannot test whether %s contains %s", l, r)
		return false
	}
	return true
}

// checkStrings returns true if both operands are Strings. Otherwise it reports an error, in which
// `want` describes the expected left side.
func (c *checker) checkStrings(l, r *typed, op plan.Op, atL, atR diag.Span, want string) bool {
	str := func(t *typed) bool { return t.typ.Kind == value.String && !t.typ.List }
	switch {
	case !str(l):
		c.fault(Incomparable, atL, "", "the left side of %s is %s, want %s", op, l, want)
	case !str(r):
		c.fault(Incomparable, atR, "", "the right side of %s is %s, want a String", op, r)
	default:
		return true
	}
	return false
}

// inlineCompare lowers one condition in the braces of a binding. The condition is equality, or
// membership for a list property.
func (c *checker) inlineCompare(m *syntax.PropMatch, p *catalog.Property, id plan.VarID) (plan.Compare, bool) {
	cmp := plan.Compare{Op: plan.Eq, Left: plan.Prop{Var: id, Name: p.Name, Type: p.Type}, Unless: plan.NoParam}
	if p.Type.List {
		cmp.Op = plan.Contains
	}
	if !p.Type.Kind.IsComparable() {
		c.fault(BadValue, syntax.SpanOf(m.Name), "", "%s is %s, and the braces of a binding cannot test such a value", p.Name, withoutNull(p.Type))
		return cmp, false
	}
	want := p.Type.Elem()
	ok := true
	switch v := m.Value.(type) {
	case *syntax.Literal:
		cmp.Right, ok = c.inlineLiteral(v, want, p)
	case *syntax.Now:
		cmp.Right = plan.Now{}
		ok = c.checkFit(value.Of(value.DateTime), want, p, v.Span())
	case *syntax.VarRef:
		var t typed
		if c.wanting(paramType(want), func() { t, ok = c.param(v.Tokens[0]) }); ok {
			cmp.Right = t.expr
			ok = c.checkFit(t.typ, want, p, v.Span())
		}
	case *syntax.Binary, *syntax.Comparison, *syntax.Call, *syntax.ActorRef:
		cmp.Right, ok = c.computed(v, func(from value.Type, at diag.Span) bool { return c.checkFit(from, want, p, at) })
	case *syntax.PropRef, *syntax.AliasRef, *syntax.Condition, *syntax.NodeKey, *syntax.Subquery, *syntax.FieldRef, *syntax.OriginRef:
		panic("check: the parser accepted an expression as a value")
	}
	if ok && m.Optional {
		ok = c.setUnless(&cmp, m.Span(), BadValue)
	}
	return cmp, ok
}

// inlineLiteral converts a literal in the braces of a binding to the type of the property.
func (c *checker) inlineLiteral(l *syntax.Literal, want value.Type, p *catalog.Property) (plan.Expr, bool) {
	if l.Kind == syntax.ListLiteral {
		c.fault(BadValue, l.Span(), "write one element to test whether the list contains it", "the braces of a binding cannot test for a whole list")
		return nil, false
	}
	if want.Kind.IsInteger() && l.Kind == syntax.FloatLiteral {
		v, err := literalValue(l)
		if err != nil {
			c.fault(BadValue, l.Span(), "", "%v", err)
		}
		return plan.Lit{Value: v}, err == nil
	}
	v, ok := c.assignable(l, want, p.Name, BadValue)
	return plan.Lit{Value: v}, ok
}

// checkFit reports an error if the type of a value does not fit the property. The result is true if
// the type fits.
func (c *checker) checkFit(from, to value.Type, p *catalog.Property, at diag.Span) bool {
	if fits(from, to) {
		return true
	}
	c.fault(BadValue, at, "give a value of type "+withoutNull(to)+", or declare the parameter with this type", "the value of type %s does not fit %s, which has type %s", withoutNull(from), p.Name, withoutNull(to))
	return false
}
