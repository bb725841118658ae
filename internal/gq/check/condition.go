package check

import (
	"strconv"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// condition checks and lowers a clause that binds no variable for the clauses around it. The result
// `ok` is false if the clause has an error and cannot be lowered.
func (c *checker) condition(cl syntax.Clause, sc *scope) (out plan.Clause, ok bool) {
	switch cl := cl.(type) {
	case *syntax.TextClause:
		cond, ok := c.textClause(cl, sc)
		return plan.Filter{Cond: cond}, ok
	case *syntax.Filter:
		if cl.Null != nil {
			cond, ok := c.nullTest(cl.Left, cl.Null, cl.Span(), sc)
			return plan.Filter{Cond: cond}, ok
		}
		cond, ok := c.filter(cl.Left, cl.Op, cl.Right, cl.Optional, cl.Span(), sc)
		return plan.Filter{Cond: cond}, ok
	case *syntax.Not:
		return plan.Not{Match: c.inner("not", cl.Range, cl.Match, sc)}, true
	case *syntax.Exists:
		return plan.Exists{Match: c.inner("exists", cl.Range, cl.Match, sc)}, true
	case *syntax.Any:
		return plan.Any{Conds: c.conditions("any", cl.Conds, sc)}, true
	case *syntax.All:
		return plan.All{Conds: c.conditions("all", cl.Conds, sc)}, true
	case *syntax.Binding, *syntax.Traversal, *syntax.Optional:
	}
	panic("check: the clause is not a condition")
}

// inner checks and lowers the clauses of a `not` or `exists` block.
func (c *checker) inner(keyword string, at syntax.Range, clauses []syntax.Clause, outer *scope) []plan.Clause {
	return c.correlated(keyword, at, clauses, &scope{outer: outer, vars: map[string]plan.VarID{}})
}

// correlated checks and lowers the clauses of a block that must use a variable from outside the block.
// The scope sc is that of the block.
func (c *checker) correlated(keyword string, at syntax.Range, clauses []syntax.Clause, sc *scope) []plan.Clause {
	match := c.block(clauses, sc)
	if len(sc.outerVars) == 0 {
		c.fault(Uncorrelated, syntax.SpanOf(at.Tokens[0]), "use a variable of the surrounding match inside the braces",
			"the %s block does not use a variable from outside the block", keyword)
	}
	return match
}

// conditions checks and lowers the conditions of an `any` or `all` block. It reports bindings and
// traversals, because these blocks cannot bind variables.
func (c *checker) conditions(keyword string, list []syntax.Clause, sc *scope) []plan.Clause {
	out := make([]plan.Clause, 0, len(list))
	for _, cl := range list {
		c.step(1)
		switch cl := cl.(type) {
		case *syntax.Binding:
			c.fault(NotCondition, cl.Span(), "write exists { … } around it and the clauses that use "+cl.Var.Value+", or put it before the block",
				"an %s block takes conditions, and this clause binds %s", keyword, cl.Var.Value)
		case *syntax.Traversal:
			c.fault(NotCondition, cl.Span(), "write exists { "+cl.From.Value+" "+cl.EdgeNames()+" "+cl.To.Value+" }",
				"an %s block takes conditions, and this clause follows an edge", keyword)
		case *syntax.TextClause, *syntax.Filter, *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All:
			if cond, ok := c.condition(cl, sc); ok {
				out = append(out, cond)
			}
		case *syntax.Optional:
			c.misplacedOptional(cl)
		}
	}
	return out
}

// nullTest checks and lowers a test of the operand `left` for null. The argument `whole` is the
// position of the test with its operand.
func (c *checker) nullTest(left syntax.Operand, null *syntax.NullTest, whole diag.Span, sc *scope) (plan.Cond, bool) {
	t, ok := c.compared(left, sc)
	if !ok {
		return nil, false
	}
	at := left.Source().Span()
	if w, ok := t.expr.(plan.Whole); ok && t.typ.Nullable {
		t = typed{expr: plan.ID(w), typ: value.Of(value.String).Optional()}
	}
	switch {
	case t.node != "":
		c.fault(Incomparable, at, "write exists { … } or not { … } to test whether a match exists", "a node that the match binds is never null")
		return nil, false
	case t.typ.Kind == value.Blob:
		c.fault(BlobValue, at, "", "a query cannot use a blob as a value")
		return nil, false
	}
	cond := plan.NullTest{Expr: t.expr, Not: null.Not}
	c.info.NullTests = append(c.info.NullTests, NullTest{whole, cond})
	return cond, true
}

// sameNode lowers a comparison of two nodes. It returns false if it reported an error.
func (c *checker) sameNode(cmp *plan.Compare, l, r typed, at diag.Span) bool {
	left, right := l.expr.(plan.Whole), r.expr.(plan.Whole)
	if c.neverSame(l, r) {
		c.fault(Incomparable, at, "", "a %s and a %s are never the same node", l.node, r.node)
		return false
	}
	cmp.Left, cmp.Right = plan.ID(left), plan.ID(right)
	if l.shared || r.shared {
		cmp.Left, cmp.Right = left, right // ids are unique only within a type
	}
	return true
}

// member checks the operands of `in`. If one operand is a literal, member converts it to the type
// that the other operand requires.
func (c *checker) member(l, r *typed, atL, atR diag.Span) bool {
	elem := typed{typ: r.typ.Elem()}
	switch {
	case l.typ.List && !r.typ.List:
		c.fault(Incomparable, atL, "write contains to test whether the list has one value", "the left side of in must be one value, not a list")
		return false
	case l.typ.List:
		c.fault(Incomparable, atL, "write one condition for each element", "the left side of in must be one value, not a list")
		return false
	case !r.typ.List:
		c.fault(Incomparable, atR, "put the values in brackets, as in [1, 2], or declare the parameter as a list", "the right side of in is %s, want a list", r)
		return false
	case r.lit != nil:
		return c.adaptList(l, r)
	case l.lit != nil:
		return c.adaptLiteral(l, &elem, atL)
	case !fits(l.typ, elem.typ):
		c.fault(Incomparable, atR, decimalHelp(l.typ, r.typ), "cannot test whether %s is in %s", l, r)
		return false
	}
	return true
}

// adaptList converts the elements of a list literal on the right side of `in` to the type of the left
// side.
func (c *checker) adaptList(l, r *typed) bool {
	if l.lit != nil && len(r.lit.Elems) > 0 {
		elem := typed{typ: r.typ.Elem()}
		return c.adaptLiteral(l, &elem, l.lit.Span())
	}
	want := l.typ.Required()
	want.Enum = nil // a value that the enum lacks is no error here; the linter reports it
	elems := make([]value.Value, 0, len(r.lit.Elems))
	for _, e := range r.lit.Elems {
		v, err := convert(e, want)
		switch {
		case err == errFraction:
			if v, ok := c.integral(e, want.Kind); ok {
				elems = append(elems, v)
			}
			continue
		case err != nil:
			c.fault(Incomparable, e.Span(), literalHelp(e, want), "cannot compare %s with %s", l, describe(e))
			return false
		}
		elems = append(elems, v)
	}
	v := value.OfList(want.Kind, elems)
	r.expr, r.typ = plan.Lit{Value: v}, v.Type()
	return true
}

// integral converts a decimal to an equal value of an integer kind. It reports false if the kind has no
// such value. No integer then equals the decimal, so a list of integers can leave it out.
func (c *checker) integral(lit *syntax.Literal, kind value.Kind) (value.Value, bool) {
	v, err := literalValue(lit)
	if err != nil {
		c.fault(Incomparable, lit.Span(), "", "%v", err)
		return value.Null, false
	}
	return value.ParseNumber(strconv.FormatFloat(v.Float()+0, 'f', -1, 64), kind)
}

// pattern checks the operands of `matches`. The pattern must be a literal or a parameter, so that a
// run compiles it only once.
func (c *checker) pattern(l, r *typed, atL, atR diag.Span) bool {
	if !c.checkStrings(l, r, plan.Matches, atL, atR, "a String") {
		return false
	}
	if !constant(*r) {
		c.fault(BadPattern, atR, "to test whether the text includes the value of another property, use the operator `contains`", "the right side of matches must be a String literal or parameter")
		return false
	}
	var text value.Value
	help := "write the regular expression in RE2 syntax"
	if ref, ok := r.expr.(plan.ParamRef); ok {
		text, help = c.plan.Params[ref.Index].Default, "write the @default of the parameter in RE2 syntax"
	} else {
		text = r.expr.(plan.Lit).Value
	}
	if text.IsNull() {
		return true
	}
	c.step(len(text.Str()))
	if _, err := pattern.Compile(text.Str()); err != nil {
		c.fault(BadPattern, atR, help, "%v", err)
		return false
	}
	return true
}
