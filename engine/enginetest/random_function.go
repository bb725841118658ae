package enginetest

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// computed draws expressions that compute with operators and functions. The function `leaf` draws
// an operand that is not computed.
type computed struct {
	*drawer
	leaf func() (plan.Expr, value.Type) // see above
	// holds draws a block as a value. It is nil where no block can be a value.
	holds func() plan.Holds
}

// maxTries is the maximum number of times that arguments are drawn for a function. The draws stop
// when the function accepts the arguments.
const maxTries = 40

// apply draws an operator or a function with its arguments. An argument may be computed, too;
// `depth` limits the nesting.
func (c computed) apply(depth int) (plan.Apply, bool) {
	row := pick(c.drawer, plan.Functions)
	if c.percent(35) {
		row = plan.Functions[c.IntN(int(plan.Modulo)+1)]
	}
	n := row.Least
	if row.Most != n && c.percent(50) {
		n++
	}
	for range maxTries {
		e := plan.Apply{Func: row.Func}
		var types []value.Type
		for i := range n {
			arg, t := c.operand(depth)
			if typ, v := c.suited(row.Func, i); !v.IsNull() && c.percent(50) {
				arg, t = plan.Lit{Value: v}, typ
			}
			if row.Func == plan.If && i == 0 {
				var ok bool
				if arg, ok = c.condition(depth); !ok {
					return e, false
				}
				t = value.Of(value.Bool)
			}
			if row.Func == plan.Round && c.percent(70) {
				// Round halves, too: few drawn numbers end in .5.
				two := plan.Lit{Value: value.OfI64(2)}
				if half, ok := plan.Divide.Row().Result([]value.Type{t, value.Of(value.I64)}); ok {
					arg, t = plan.Apply{Func: plan.Divide, Args: []plan.Expr{arg, two}, Type: half}, half
				}
			}
			e.Args, types = append(e.Args, arg), append(types, t)
		}
		if t, ok := row.Result(types); ok && !mayOverflow(e, t) && (!onDecimal(row.Func, types) || c.decimals.percent(50)) {
			e.Type = t
			return e, true
		}
	}
	return plan.Apply{}, false
}

// onDecimal reports whether abs, a rounding or int gets a Decimal.
func onDecimal(f plan.Func, types []value.Type) bool {
	return (f >= plan.Abs && f <= plan.Ceil || f == plan.ToInt) && types[0].Kind == value.Decimal
}

// mayOverflow reports whether the product of Decimals may have more than 38 digits, which is an error. A drawn Decimal has
// at most twelve digits and an integer at most twenty, so only a product of computed values may.
func mayOverflow(e plan.Apply, t value.Type) bool {
	return t.Kind == value.Decimal && e.Func == plan.Multiply && slices.ContainsFunc(e.Args, func(a plan.Expr) bool {
		switch a.(type) {
		case plan.Lit, plan.Prop, plan.Old:
			return false
		}
		return true
	})
}

// together reports whether a query may compare values of two types. Decimals must have one scale.
func together(a, b value.Type) bool {
	if a.Kind == value.Decimal && b.Kind == value.Decimal {
		return a.Scale() == b.Scale()
	}
	return a.Kind == b.Kind || a.Kind.IsNumeric() && b.Kind.IsNumeric()
}

// suited draws a value for argument i of a function that few drawn operands fit. It returns null for other functions.
func (c computed) suited(f plan.Func, i int) (value.Type, value.Value) {
	switch {
	case f == plan.Substring && i == 0:
		return stringType, pick(c.drawer, convertible[len(convertible)-3:])
	case f == plan.Substring:
		return i64Type, literal(c.IntN(4), i64Type)
	case f == plan.Add && c.rare.percent(25):
		return i64Type, literal(pick(c.rare, []int{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64}), i64Type)
	case f != plan.AddDuration && f != plan.SubtractDuration:
		return value.Type{}, value.Null
	}
	t := value.Of(value.DateTime)
	if i > 0 {
		t = value.Of(value.Duration)
	}
	return t, c.scalar(t, false, false)
}

// operand draws an operand of an operator or a function.
func (c computed) operand(depth int) (plan.Expr, value.Type) {
	if depth > 0 && c.percent(30) {
		if e, ok := c.apply(depth - 1); ok {
			return e, e.Type
		}
	}
	return c.leaf()
}

// condition draws the condition of an `if`.
func (c computed) condition(depth int) (plan.Expr, bool) {
	if c.holds != nil && c.percent(30) {
		return c.holds(), true
	}
	return c.test(depth)
}

// test draws a comparison of two operands, or a test of an operand.
func (c computed) test(depth int) (plan.Test, bool) {
	switch draw := c.IntN(100); {
	case draw < 12:
		e, _ := c.operand(depth)
		return plan.Test{Cond: plan.NullTest{Expr: e, Not: c.percent(50)}}, true
	case draw < 24:
		if e, t := c.operand(depth); comparable(t) {
			elems := make([]value.Value, c.IntN(4))
			for i := range elems {
				elems[i] = c.scalar(t.Required(), true, false)
			}
			list := plan.Lit{Value: value.OfList(t.Kind, elems)}
			return plan.Test{Cond: plan.Compare{Op: plan.In, Left: e, Right: list, Unless: plan.NoParam}}, true
		}
	case draw < 34:
		if e, t := c.operand(depth); t.Kind == value.String && !t.List {
			pattern := plan.Lit{Value: value.OfString(pick(c.drawer, []string{"", "^a", "b|d", "[0-9]", "^.?$"}))}
			return plan.Test{Cond: plan.Compare{Op: plan.Matches, Left: e, Right: pattern, Unless: plan.NoParam}}, true
		}
	}
	for range maxTries {
		a, ta := c.operand(depth)
		b, tb := c.operand(depth)
		if comparable(ta) && comparable(tb) && together(ta, tb) {
			op := plan.Op(c.IntN(int(plan.Ge) + 1))
			return plan.Test{Cond: plan.Compare{Op: op, Left: a, Right: b, Unless: plan.NoParam}}, true
		}
	}
	return plan.Test{}, false
}

// computed returns a value that draws expressions of the variables in `scope`.
func (r *readDraw) computed(scope []plan.VarID) computed {
	return computed{drawer: r.drawer, holds: r.holdsWithin(scope), leaf: func() (plan.Expr, value.Type) {
		if r.percent(70) {
			v := pick(r.drawer, scope)
			declared := r.q.Read.Vars[v]
			if declared.Entity == plan.Walk {
				return r.walkPart(v, plan.WalkHops), i32Type
			}
			var props []plan.Prop
			for _, p := range properties(r.drawer.schema, declared.Entity, declared.Type) {
				if p.Type.Kind.IsComparable() {
					props = append(props, r.prop(v, p.Name))
				}
			}
			if len(props) > 0 {
				p := pick(r.drawer, props)
				t := p.Type
				t.Enum = nil // the values of an enum are Strings in an expression
				return p, t
			}
		}
		return r.operandLiteral()
	}}
}

// holdsWithin returns a function that draws a block as a value of an expression of the variables in
// `scope`. It returns nil if the scope is that of a block, in which further blocks cost too much.
func (r *readDraw) holdsWithin(scope []plan.VarID) func() plan.Holds {
	if !slices.Equal(scope, r.outer) || r.holding {
		return nil
	}
	return func() plan.Holds {
		r.holding = true
		defer func() { r.holding = false }()
		return r.holds()
	}
}

// operandLiteral draws a literal for an expression, often a number or a text.
func (d *drawer) operandLiteral() (plan.Expr, value.Type) {
	t, v := d.operandValue()
	return plan.Lit{Value: v}, t
}

// withArguments replaces some literals of an expression by arguments. The function `constant` makes
// an argument of a value.
func (d *drawer) withArguments(e plan.Expr, constant func(value.Type, value.Value) plan.Expr) plan.Expr {
	switch e := e.(type) {
	case plan.Lit:
		if d.percent(40) {
			return constant(e.Value.Type(), e.Value)
		}
	case plan.Apply:
		e.Args = slices.Clone(e.Args)
		for i := range e.Args {
			e.Args[i] = d.withArguments(e.Args[i], constant)
		}
		return e
	case plan.Test:
		switch c := e.Cond.(type) {
		case plan.NullTest:
			c.Expr = d.withArguments(c.Expr, constant)
			return plan.Test{Cond: c}
		case plan.Compare:
			c.Left, c.Right = d.withArguments(c.Left, constant), d.withArguments(c.Right, constant)
			return plan.Test{Cond: c}
		}
	}
	return e
}

// convertible are texts. The functions `int`, `float` and `date` can convert some of them.
var convertible = poolOf(value.OfString, "12", "-3", "+4", "4.75", "-0.5", "1e3", "1e400", "0x10", "9223372036854775808", " 1", "", "2024-02-29", "2024-02-30", "éÉ", " aÉ\tß ")

// operandValue draws the value of a literal or an argument for an expression.
func (d *drawer) operandValue() (value.Type, value.Value) {
	t := pick(d, scalarTypes)
	switch draw := d.IntN(100); {
	case draw < 30:
		t = pick(d, numericTypes)
	case draw < 40:
		return stringType, pick(d, convertible)
	case draw < 50:
		t = value.Of(value.DateTime)
	}
	return t, d.scalar(t, true, false)
}

// computedFilter draws a condition on a computed value.
func (r *readDraw) computedFilter(scope []plan.VarID) (plan.Clause, bool) {
	test, ok := r.computed(scope).test(2)
	if !ok {
		return nil, false
	}
	if len(variables(test)) == 0 {
		return nil, false // a `not` block must use an outer variable
	}
	return plan.Filter{Cond: r.withArguments(test, r.constant).(plan.Test).Cond}, true
}

// computedColumn draws a column or a sort key that is computed.
func (r *readDraw) computedColumn() (plan.Expr, bool) {
	if r.nesting < plan.MaxBlockDepth && r.percent(25) {
		if e := r.blockAgg(); comparable(r.typeOf(e)) {
			return e, true
		}
	}
	if r.percent(20) {
		return r.holds(), true
	}
	if r.percent(15) {
		e, ok := r.computed(r.outer).test(1)
		if !ok {
			return nil, false
		}
		return r.withArguments(e, r.constant), true
	}
	e, ok := r.computed(r.outer).apply(2)
	if !ok || !comparable(e.Type) {
		return nil, false
	}
	return r.withArguments(e, r.constant), true
}

// composed draws an expression of aggregates, of the columns by which a read groups, and of
// constants.
func (r *readDraw) composed(exprs []plan.Expr) (plan.Expr, bool) {
	var leaves []plan.Expr
	for _, e := range exprs {
		if comparable(r.typeOf(e)) && !scores(e) {
			leaves = append(leaves, e)
		}
	}
	c := computed{drawer: r.drawer, leaf: func() (plan.Expr, value.Type) {
		if len(leaves) > 0 && r.percent(60) {
			e := pick(r.drawer, leaves)
			t := r.typeOf(e)
			t.Enum = nil
			return e, t
		}
		return r.operandLiteral()
	}}
	for range maxTries {
		e, ok := c.apply(1)
		if ok && comparable(e.Type) && plan.HasAggregate(e) {
			for i, a := range e.Args { // inside a grouping column, an argument would change the column
				if _, ok := a.(plan.Lit); ok {
					e.Args[i] = r.withArguments(a, r.constant)
				}
			}
			return e, true
		}
	}
	return nil, false
}

// scores reports whether an expression is a score or an aggregate of a score.
func scores(e plan.Expr) bool {
	if a, ok := e.(plan.Agg); ok {
		e = a.Arg
	}
	switch e.(type) {
	case plan.BM25, plan.Nearest, plan.RRF:
		return true
	}
	return false
}

// computedValue draws an expression of literals and arguments for a property. Either the value of
// the expression fits the property, or the expression has no value.
func (w *writeDraw) computedValue(t value.Type) (plan.Expr, bool) {
	e, ok := computed{drawer: w.drawer, leaf: w.operandLiteral}.apply(2)
	if !ok || e.Type.List != t.List || !together(e.Type, t) {
		return nil, false
	}
	return w.withArguments(e, func(t value.Type, v value.Value) plan.Expr { return w.argument(v, t) }), true
}
