package enginetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// block draws the clauses of a `not` or `exists` block, which refer to an outer variable.
func (r *readDraw) block(depth int) []plan.Clause {
	if r.percent(12) {
		if c := r.joins(); c != nil {
			return []plan.Clause{c}
		}
	}
	scope := append([]plan.VarID(nil), r.outer...)
	var clauses []plan.Clause
	for range r.between(0, 2) {
		clauses = append(clauses, r.clause(&scope, 1)...)
	}
	if len(clauses) == 0 || r.percent(35) {
		clauses = append(clauses, r.filter(r.outer))
	}
	if inner := scope[len(r.outer):]; len(inner) > 0 && r.percent(35) {
		clauses = append(clauses, r.filter(inner))
	}
	if depth < 2 && r.percent(30) {
		outer := r.outer
		r.outer = scope
		if r.percent(50) {
			clauses = append(clauses, r.not(depth+1))
		} else {
			clauses = append(clauses, r.condition(depth+1))
		}
		r.outer = outer
	}
	r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	return clauses
}

// joins draws a traversal between outer variables, as it is or in one more `not` block. It returns nil if no
// edge fits two of them.
func (r *readDraw) joins() plan.Clause {
	var choices []plan.Traverse
	for _, e := range r.drawer.schema.Edges {
		for _, from := range r.outer {
			for _, to := range r.outer {
				if r.fitsEnd(from, e, false) && r.fitsEnd(to, e, true) {
					choices = append(choices, plan.Traverse{Edge: e.Name, From: from, To: to, EdgeVar: plan.NoVar, Min: 1, Max: 1})
				}
			}
		}
	}
	if len(choices) == 0 {
		return nil
	}
	t := pick(r.drawer, choices)
	if r.percent(40) {
		return plan.Not{Match: []plan.Clause{t}}
	}
	return t
}

// condition draws a condition that may be a block.
func (r *readDraw) condition(depth int) plan.Clause {
	if depth > 2 {
		return r.filter(r.outer)
	}
	switch draw := r.IntN(100); {
	case draw < 40:
		return plan.Any{Conds: r.conditions(depth + 1)}
	case draw < 55:
		return plan.All{Conds: r.conditions(depth + 1)}
	case draw < 80:
		return plan.Exists{Match: r.block(depth + 1)}
	case draw < 90:
		return r.not(depth + 1)
	}
	return r.filter(r.outer)
}

// conditions draws the conditions of an `any` or `all` block.
func (r *readDraw) conditions(depth int) []plan.Clause {
	var list []plan.Clause
	for range r.between(1, 3) {
		switch {
		case r.percent(30):
			list = append(list, r.condition(depth))
		case r.percent(15):
			list = append(list, r.paramTest())
		default:
			list = append(list, r.filter(r.outer))
		}
	}
	return list
}

// paramTest draws a condition that tests a parameter for null.
func (r *readDraw) paramTest() plan.Clause {
	v := value.Null
	if r.percent(50) {
		v = value.OfString("a")
	}
	p := r.param(fmt.Sprintf("x%d", len(r.q.Params)), stringType.Optional())
	r.args = append(r.args, v)
	return plan.Filter{Cond: plan.NullTest{Expr: p, Not: r.percent(50)}}
}

// in draws an `in` comparison with a list of up to three values. The list is a literal or a
// parameter. The function `draw` draws a value of type t.
func (r *readDraw) in(left plan.Expr, t value.Type, draw func() value.Value) plan.Compare {
	elems := make([]value.Value, r.IntN(4))
	for i := range elems {
		elems[i] = draw()
	}
	list := value.OfList(t.Kind, elems)
	c := plan.Compare{Op: plan.In, Left: left, Right: plan.Lit{Value: list}, Unless: plan.NoParam}
	if r.percent(50) {
		return c
	}
	typ := list.Type()
	typ.Dim = t.Dim // the digits of a Decimal
	return r.withParam(c, typ, list)
}

// withParam returns the comparison with a parameter of type t as its right side, for which the argument
// is v. Sometimes the parameter is optional, and the argument null.
func (r *readDraw) withParam(c plan.Compare, t value.Type, v value.Value) plan.Compare {
	if r.percent(40) {
		t = t.Optional()
		if r.percent(50) {
			v = value.Null
		}
	}
	p := r.param(fmt.Sprintf("x%d", len(r.q.Params)), t)
	r.args = append(r.args, r.annotate(&r.q.Params[p.Index], v))
	c.Right = p
	if t.Nullable && r.percent(60) {
		c.Unless = p.Index
	}
	return c
}

// holds draws a block as a value. The block refers to an outer variable.
func (r *readDraw) holds() plan.Holds {
	var c plan.Clause
	switch draw := r.IntN(100); {
	case draw < 40:
		c = plan.Exists{Match: r.block(1)}
	case draw < 70:
		c = r.not(1)
	case draw < 90:
		c = plan.Any{Conds: r.conditions(1)}
	default:
		c = plan.All{Conds: r.conditions(1)}
	}
	return plan.Holds{Block: c, Outer: outerOf(c, r.outer)}
}

// outerOf returns the variables of the list `outer` that a block uses, in ascending order.
func outerOf(c plan.Clause, outer []plan.VarID) []plan.VarID {
	var used []plan.VarID
	for _, v := range mentioned([]plan.Clause{c}) {
		if slices.Contains(outer, v) && !slices.Contains(used, v) {
			used = append(used, v)
		}
	}
	slices.Sort(used)
	return used
}

// mentioned returns the variables in clauses and in their blocks.
func mentioned(clauses []plan.Clause) []plan.VarID {
	vars := binders(clauses)
	for _, c := range clauses {
		if f, ok := c.(plan.Filter); ok {
			vars = append(vars, condVariables(f.Cond)...)
		}
		vars = append(vars, mentioned(plan.Block(c))...)
	}
	return vars
}

// expressions are the regular expressions that `matches` compares with.
var expressions = []string{"", "a", "^a", "a$", "b|d", "[ab]+c?", "(?i)A", "^.?$", "re.", "é", "^n[0-9]", "x{2}"}

// matches draws a `matches` comparison with a regular expression, which is a literal or a
// parameter. The argument for a parameter is sometimes not a valid regular expression.
func (r *readDraw) matches(left plan.Expr) plan.Compare {
	text := pick(r.drawer, expressions)
	c := plan.Compare{Op: plan.Matches, Left: left, Right: plan.Lit{Value: value.OfString(text)}, Unless: plan.NoParam}
	if r.percent(50) {
		return c
	}
	if r.percent(10) {
		text = pick(r.drawer, []string{"(", "a)", "[", "*", "a{1001}", "(a{100}){10}"})
	}
	return r.withParam(c, stringType, value.OfString(text))
}

// refused reports whether both the model and the engine refuse the argument of the same parameter.
// The arguments of drawn reads fit their parameters, so the refused argument is an invalid regular
// expression.
func refused(model, got error) bool {
	var want, have *engine.BadArgument
	return errors.As(model, &want) && errors.As(got, &have) && want.Param == have.Param
}

// annotate draws annotations for a parameter that would get the argument v. It returns the argument
// that the call must use: v, or null if v has become the default of the parameter.
func (d *drawer) annotate(p *plan.Param, v value.Value) value.Value {
	if d = d.params; v.IsNull() || !d.percent(25) {
		return v
	}
	switch {
	case p.Type.List, p.Type.Kind.IsFloat(): // a float may be NaN, which no bounds allow
	case p.Type.Kind.IsNumeric():
		d.bound(p, v)
	case p.Type.Kind == value.String:
		if pattern := pick(d, patterns); pattern.Check(v) == nil {
			p.Pattern = pattern
		}
	}
	if !p.Type.Nullable && d.percent(50) {
		p.Default, v = v, value.Null
	}
	return v
}

// bound draws a minimum or a maximum for a parameter. The bound equals the argument v.
func (d *drawer) bound(p *plan.Param, v value.Value) {
	if d.percent(50) {
		p.Bounds.Min = &v
	} else {
		p.Bounds.Max = &v
	}
}

// patterns are the patterns that annotate draws for parameters.
var patterns = func() (all []*value.Pattern) {
	for _, text := range []string{"^", "[a-m]", "^[^z]*$"} {
		p, err := value.NewPattern(text)
		must(err)
		all = append(all, p)
	}
	return all
}()

// drawLimit draws the limit of the read: a number, or a parameter with bounds.
func (r *readDraw) drawLimit() {
	n, d := r.between(0, 6), r.drawer.params
	if d.percent(60) {
		r.limit(int64(n))
		return
	}
	low, high, arg := value.OfI32(int32(d.between(0, n))), value.OfI32(int32(d.between(n, n+3))), value.OfI32(int32(n))
	ref := r.param(fmt.Sprintf("x%d", len(r.q.Params)), value.Of(value.I32))
	p := &r.q.Params[ref.Index]
	p.Bounds = value.Bounds{Min: &low, Max: &high}
	if d.percent(40) {
		p.Default, arg = arg, value.Null
	}
	r.args = append(r.args, arg)
	r.q.Read.Limit, r.q.Read.LimitBy = high.Int(), &ref
}

// nameCaller makes a member of actor() of the last parameter of some plans, if a claim can have its type: a claim, actor().id or
// actor().groups. It draws no random numbers, so that the statements of a seed do not depend on it.
func nameCaller(q *plan.Query, args engine.Args) (*plan.Query, engine.Args) {
	n := len(q.Params)
	if n == 0 || len(q.Uses)%2 == 1 {
		return q, args
	}
	p := &q.Params[n-1]
	limit := q.Read != nil && q.Read.LimitBy != nil && q.Read.LimitBy.Index == n-1
	claims := plan.Claims{}
	if limit || claims.Declare("claim", p.Type.Required().String()) != nil || p.Node+p.Interface != "" || !p.Default.IsNull() || p.Bounds != (value.Bounds{}) || p.Pattern != nil {
		return q, args
	}
	p.Caller = "claim"
	for _, member := range claims.Members() {
		if t, _ := claims.TypeOf(member); t.Equal(p.Type) {
			p.Caller = member
		}
	}
	p.Name = plan.CallerName(p.Caller)
	return q, args
}
