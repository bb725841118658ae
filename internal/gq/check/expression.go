package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// argument resolves an operand of an operator, or an argument of a function. The operand must be a
// value. It reports a node, a blob, a vector or a score.
func (c *checker) argument(o syntax.Operand, sc *scope) (typed, bool) {
	t, ok := c.operand(o, sc)
	return c.computable(o, t, ok)
}

// computable checks that an expression can compute with an operand, of which operand returned t and ok.
func (c *checker) computable(o syntax.Operand, t typed, ok bool) (typed, bool) {
	if !ok {
		return t, false
	}
	at := o.Source().Span()
	switch {
	case t.node != "":
		c.fault(Incomparable, at, "use a property of the node", "%s cannot be part of an expression", t)
		return t, false
	case t.end != "":
		c.fault(Incomparable, at, endHelp, "%s cannot be part of an expression", t)
		return t, false
	case t.typ.Kind == value.Blob || t.typ.Kind == value.Vector:
		c.fault(Incomparable, at, "", "a %s cannot be part of an expression", t)
		return t, false
	case t.fields != nil:
		c.fault(Incomparable, at, "use a field of a column that is a record, as in latest.on; count { … } counts rows", "%s cannot be part of an expression", t)
		return t, false
	case hasScore(t.expr):
		c.fault(Incomparable, at, "return the score as a column of its own", "a score of bm25, nearest or rrf cannot be part of an expression")
		return t, false
	}
	t.typ.Enum = nil // in an expression, values of an enum are Strings
	return t, true
}

// params returns the indexes of the parameters that an expression computes with. It leaves out those
// in a block.
func params(e plan.Expr) []int {
	if ref, ok := e.(plan.ParamRef); ok {
		return []int{ref.Index}
	}
	var found []int
	for _, o := range plan.Operands(e) {
		found = append(found, params(o)...)
	}
	return found
}

// isTruth reports whether an expression is the truth of a condition. Such an expression is never null.
func isTruth(e plan.Expr) bool {
	switch e.(type) {
	case plan.Test, plan.Holds, plan.Matched:
		return true
	case plan.Lit, plan.ParamRef, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, plan.Agg, plan.BM25, plan.Nearest, plan.RRF,
		plan.Apply, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef, plan.BlockAgg, plan.BlockRows, plan.Member:
	}
	return false
}

// hasScore reports whether an expression is a score or computes with one.
func hasScore(e plan.Expr) bool {
	switch e := e.(type) {
	case plan.BM25, plan.Nearest, plan.RRF:
		return true
	case plan.Agg:
		return hasScore(e.Arg)
	case plan.Apply, plan.Test:
		return slices.ContainsFunc(plan.Operands(e), hasScore)
	case plan.Holds:
		found := false
		plan.WalkClauses([]plan.Clause{e.Block}, func(inner plan.Expr) {
			_, block := inner.(plan.Holds) // its expressions follow
			found = found || !block && hasScore(inner)
		})
		return found
	case plan.Lit, plan.ParamRef, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, plan.Matched, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef, plan.BlockAgg, plan.BlockRows, plan.Member: // a subquery has no scores
	}
	return false
}

// isConstant reports whether an expression has the same value in every row.
func isConstant(e plan.Expr) bool {
	switch e := e.(type) {
	case plan.Lit, plan.ParamRef, plan.Now:
		return true
	case plan.Apply, plan.Test, plan.Member:
		return !slices.ContainsFunc(plan.Operands(e), func(o plan.Expr) bool { return !isConstant(o) })
	case plan.Holds:
		return len(e.Outer) == 0
	case plan.BlockAgg:
		return len(e.Outer) == 0
	case plan.BlockRows:
		return len(e.Outer) == 0
	case plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Agg, plan.Matched, plan.BM25, plan.Nearest, plan.RRF, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef:
	}
	return false
}

// binary resolves an arithmetic operator.
func (c *checker) binary(o *syntax.Binary, sc *scope) (typed, bool) {
	// $d + days(3) is parsed as a + between $d and a call.
	if call, ok := o.Right.(*syntax.Call); ok && slices.Contains(plan.Units(), call.Name.Value) {
		return c.shift(o, call, sc)
	}
	l, okL := c.argument(o.Left, sc)
	r, okR := c.argument(o.Right, sc)
	if !okL || !okR {
		return typed{}, false
	}
	op := o.Op.Value
	// The result of / is a float for all kinds of numbers, so that its literals need not have the kind of the other operand.
	if op != "/" && (!c.adaptNumber(&l, &r, o.Left) || !c.adaptNumber(&r, &l, o.Right)) {
		return typed{}, false
	}
	if row, t := plan.InfixOf(op, []value.Type{l.typ, r.typ}); row != nil {
		return typed{expr: plan.Apply{Func: row.Func, Args: []plan.Expr{l.expr, r.expr}, Type: t}, typ: t}, true
	}
	c.fault(Incomparable, o.Span(), operatorHelp(op, l.typ, r.typ), "%s cannot combine %s with %s", op, l, r)
	return typed{}, false
}

// operatorHelp returns a help text for an operator that cannot combine two types, or "".
func operatorHelp(op string, l, r value.Type) string {
	moment := func(t value.Type) bool { return t.Kind == value.Date || t.Kind == value.DateTime }
	switch {
	case l.List || r.List:
		return "use an element, or size(list)"
	case op == "-" && moment(l) && moment(r):
		return "write days_between(from, to) or, for two DateTimes, seconds_between(from, to)"
	case op == "+" && moment(r):
		return "write the Date or DateTime first"
	case l.Kind == value.Date && r.Kind == value.Duration:
		return "a Date takes only days, as in + days(3)"
	case moment(l) && r.Kind.IsInteger():
		return "write the unit of time: " + op + " days(…), hours(…), minutes(…) or seconds(…)"
	case op == "+" && (l.Kind == value.String || r.Kind == value.String):
		return "write string(…) around the operand that is not a String"
	case l.Kind == value.Decimal && r.Kind.IsFloat() || r.Kind == value.Decimal && l.Kind.IsFloat():
		return "write float(…) around the Decimal"
	case l.Kind.IsInteger() && r.Kind.IsInteger():
		return "convert one of them with int(…) or float(…)"
	case l.Kind == value.String && r.Kind.IsNumeric() || r.Kind == value.String && l.Kind.IsNumeric():
		return "convert the String with int(…) or float(…)"
	}
	return ""
}

// adaptNumber converts the integer literal `lit` to the kind of the other operand, which is a
// number. If that kind cannot have the literal's value, adaptNumber uses the kind in which the
// operator computes.
func (c *checker) adaptNumber(lit, other *typed, at syntax.Operand) bool {
	if lit.lit != nil && lit.lit.Kind == syntax.FloatLiteral && other.typ.Kind == value.Decimal && !other.typ.List {
		_, fraction, _ := strings.Cut(lit.lit.Text, ".")
		v, err := value.ParseDecimal(lit.lit.Text, value.DecimalOf(value.MaxDigits, min(len(fraction), value.MaxDigits)))
		if err != nil {
			c.fault(Incomparable, at.Source().Span(), "", "%v", err)
			return false
		}
		lit.expr, lit.typ = plan.Lit{Value: v}, v.Type()
		return true
	}
	if lit.lit == nil || other.lit != nil || lit.lit.Kind != syntax.IntLiteral || !other.typ.Kind.IsNumeric() || other.typ.List {
		return true
	}
	kinds := []value.Kind{other.typ.Kind, value.I64}
	switch {
	case other.typ.Kind.IsFloat():
		kinds = []value.Kind{value.F64}
	case other.typ.Kind == value.U64:
		kinds = kinds[:1]
	}
	for _, k := range kinds {
		if v, ok := value.ParseNumber(lit.lit.Text, k); ok {
			lit.expr, lit.typ = plan.Lit{Value: v}, v.Type()
			return true
		}
	}
	c.fault(Incomparable, at.Source().Span(), "", "%s is outside the range of %s", lit.lit.Text, kinds[len(kinds)-1])
	return false
}

// shift resolves a Date or DateTime plus or minus a number of units of time.
func (c *checker) shift(o *syntax.Binary, unit *syntax.Call, sc *scope) (typed, bool) {
	row := plan.ShiftBy(o.Op.Value, unit.Name.Value)
	if row == nil {
		c.misplacedUnit(unit)
		return typed{}, false
	}
	if len(unit.Args) != 1 {
		c.fault(Incomparable, unit.Span(), "", "%s has %d arguments, want a number of %s", row.Unit, len(unit.Args), row.Unit)
		return typed{}, false
	}
	l, okL := c.argument(o.Left, sc)
	n, okN := c.argument(unit.Args[0], sc)
	if !okL || !okN {
		return typed{}, false
	}
	t, ok := row.Result([]value.Type{l.typ, n.typ})
	switch {
	case ok:
		return typed{expr: plan.Apply{Func: row.Func, Args: []plan.Expr{l.expr, n.expr}, Type: t}, typ: t}, true
	case n.typ.List || !n.typ.Kind.IsInteger():
		c.fault(Incomparable, unit.Args[0].Source().Span(), "", "the argument of %s is %s, want an integer", row.Unit, n)
	case !l.typ.List && l.typ.Kind == value.Date:
		c.fault(Incomparable, unit.Span(), "write days(…), or use a DateTime", "%s cannot be added to a Date or subtracted from it", row.Unit)
	default:
		c.fault(Incomparable, o.Left.Source().Span(), "", "%s needs a Date or DateTime before %s, found %s", row.Unit, o.Op.Value, l)
	}
	return typed{}, false
}

// misplacedUnit reports a number of units of time, such as days(3), that is neither added to nor
// subtracted from a time.
func (c *checker) misplacedUnit(o *syntax.Call) {
	c.fault(Incomparable, o.Span(), "write the Date or DateTime first: now() - "+o.Name.Value+"(3)",
		"%s is not on the right of + or - after a Date or DateTime", o.Name.Value)
}

// comparison resolves a comparison or a test for null that is an operand. Its type is Bool.
func (c *checker) comparison(o *syntax.Comparison, sc *scope) (typed, bool) {
	var cond plan.Cond
	var ok bool
	if o.Null != nil {
		cond, ok = c.nullTest(o.Left, o.Null, o.Span(), sc)
	} else {
		cond, ok = c.filter(o.Left, o.Op, o.Right, false, o.Span(), sc)
		if ok {
			c.info.Compares[len(c.info.Compares)-1].Operand = true
		}
	}
	return c.truth(plan.Test{Cond: cond}, o.Span(), ok)
}

// holds resolves a block that is an operand. Its type is Bool. The block sees neither the columns of
// the result nor aggregates.
func (c *checker) holds(o *syntax.Condition, sc *scope) (typed, bool) {
	columns, aggregating := c.columns, c.aggregating
	c.columns, c.aggregating = nil, false
	inner := &scope{outer: sc, vars: map[string]plan.VarID{}}
	block, ok := c.condition(o.Block, inner)
	c.columns, c.aggregating = columns, aggregating
	return c.truth(plan.Holds{Block: block, Outer: slices.Sorted(maps.Keys(inner.outerVars))}, o.Span(), ok)
}

// truth returns the truth of a condition as an operand. It reports a condition that uses a score. The
// argument `ok` says whether the condition has no error.
func (c *checker) truth(e plan.Expr, at diag.Span, ok bool) (typed, bool) {
	t := typed{expr: e, typ: value.Of(value.Bool)}
	if ok && hasScore(e) {
		c.fault(Incomparable, at, "return the score as a column of its own", "a score of bm25, nearest or rrf cannot be part of an expression")
		return t, false
	}
	return t, ok
}

// apply resolves a call of a function.
func (c *checker) apply(o *syntax.Call, row *plan.Function, sc *scope) (typed, bool) {
	if !row.TakesArgs(len(o.Args)) {
		c.fault(Incomparable, o.Span(), "write "+row.Usage, "%s has %d arguments", row.Name, len(o.Args))
		return typed{}, false
	}
	args := make([]typed, len(o.Args))
	for i, a := range o.Args {
		var ok bool
		if row.Func == plan.Size {
			args[i], ok = c.list(a, sc)
		} else {
			args[i], ok = c.argument(a, sc)
		}
		if !ok {
			return typed{}, false
		}
	}
	values := args
	if row.Func == plan.If {
		if !isTruth(args[0].expr) {
			c.fault(Incomparable, o.Args[0].Source().Span(), "write a comparison, such as $p.active = true", "the condition of if is %s, want a comparison or a block", args[0])
			return typed{}, false
		}
		values = args[1:]
	}
	if row.Func == plan.If || row.Func == plan.Coalesce {
		adaptLiterals(values)
	}
	apply := plan.Apply{Func: row.Func}
	types := make([]value.Type, len(args))
	names := make([]string, len(args))
	for i, a := range args {
		apply.Args = append(apply.Args, a.expr)
		types[i], names[i] = a.typ, a.String()
	}
	t, ok := row.Result(types)
	if !ok {
		c.fault(Incomparable, o.Span(), functionHelp(row.Func, types), "%s takes %s, found %s", row.Name, row.Takes, strings.Join(names, " and "))
		return typed{}, false
	}
	apply.Type = t
	return typed{expr: apply, typ: t}, true
}

// list resolves the argument of size. Only size accepts a list of nodes.
func (c *checker) list(o syntax.Operand, sc *scope) (typed, bool) {
	t, ok := c.operand(o, sc)
	if a, aggregate := t.expr.(plan.Agg); ok && aggregate {
		if _, nodes := a.CollectedNodes(); nodes {
			return t, true
		}
	}
	return c.computable(o, t, ok)
}

// functionHelp returns a help text for a function that does not accept the types of its arguments,
// or "".
func functionHelp(f plan.Func, types []value.Type) string {
	switch {
	case f == plan.Size && types[0].Kind == value.String:
		return "write length(text) for the length of a String"
	case f == plan.DateOf && types[0].Kind.IsNumeric():
		return "write date(\"2024-05-01\")"
	case f == plan.Length && types[0].List:
		return "write size(list) for the number of elements"
	case f == plan.SecondsBetween:
		return "write days_between(from, to) for Dates"
	}
	return ""
}

// adaptLiterals converts the literals in a list of alternatives to the common type of the other
// alternatives. It leaves literals that this type cannot represent unchanged.
func adaptLiterals(list []typed) {
	var types []value.Type
	for _, t := range list {
		if t.lit == nil {
			types = append(types, t.typ)
		}
	}
	if len(types) == 0 {
		return
	}
	common, ok := plan.Common(types)
	if !ok {
		return
	}
	for i := range list {
		if list[i].lit == nil {
			continue
		}
		if v, err := convert(list[i].lit, common); err == nil {
			list[i].expr, list[i].typ = plan.Lit{Value: v}, common
		}
	}
}

// typeOf resolves the call type(n) to the name of the type of the node n.
func (c *checker) typeOf(o *syntax.Call, sc *scope) (typed, bool) {
	if len(o.Args) != 1 {
		c.fault(Incomparable, o.Span(), "write type($p)", "type has %d arguments, want a node", len(o.Args))
		return typed{}, false
	}
	t, ok := c.operand(o.Args[0], sc)
	if !ok {
		return t, false
	}
	if t.node == "" {
		help := "write type($p)"
		if t.end != "" {
			help = "use the variable at the end of the traversal, as in type($x)"
		}
		c.fault(Incomparable, o.Args[0].Source().Span(), help, "the argument of type is %s, want a node", t)
		return t, false
	}
	if t.shared {
		return typeName(t), true
	}
	name := plan.Lit{Value: value.OfString(t.node)}
	w, whole := t.expr.(plan.Whole)
	if !whole || !t.typ.Nullable {
		return typed{expr: name, typ: value.Of(value.String)}, true
	}
	// The comparison holds unless the node is null. Then `if` has no branch, and its value is null.
	bound := plan.Compare{Op: plan.Eq, Left: plan.ID(w), Right: plan.ID(w), Unless: plan.NoParam}
	typ := value.Of(value.String).Optional()
	return typed{expr: plan.Apply{Func: plan.If, Args: []plan.Expr{plan.Test{Cond: bound}, name}, Type: typ}, typ: typ}, true
}

// column resolves the name of a column in `return` or `order`.
func (c *checker) column(name string, at diag.Span, help func() string) (typed, bool) {
	if i, ok := c.columns[name]; ok {
		col := c.read.Columns[i]
		t := typed{expr: col.Expr, typ: col.Type}
		if w, whole := col.Expr.(plan.Whole); whole {
			v := c.read.Vars[w.Var]
			t.node, t.shared = v.Type, v.Entity == plan.Interface
		} else {
			t.fields = col.Fields
			if e, ok := col.Expr.(plan.EndNode); ok {
				t.end = e.Interface
			}
		}
		return t, true
	}
	if !c.failed[name] {
		c.fault(Unbound, at, help(), "the return clause has no column %s", name)
	}
	return typed{}, false
}

// isGrouped reports whether an expression has one value in each group. That is so if it consists
// only of constants, grouping keys and aggregates.
func isGrouped(e plan.Expr, grouping map[string]bool) bool {
	if _, agg := e.(plan.Agg); agg || isConstant(e) || grouping[exprText(e)] {
		return true
	}
	parts := plan.Operands(e)
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p plan.Expr) bool { return !isGrouped(p, grouping) })
}

// checkGroups reports each column that computes with an aggregate and also with a value that is not
// a grouping key.
func (c *checker) checkGroups(at map[string]diag.Span) {
	if !c.read.Grouped {
		return
	}
	grouping := c.grouping()
	for _, col := range c.read.Columns {
		if plan.HasAggregate(col.Expr) && !isGrouped(col.Expr, grouping) {
			c.fault(Uncorrelated, at[col.Name], "return the value that is not an aggregate as a column of its own, which makes it a grouping key",
				"the column %s computes with aggregates and with a value that is not a grouping key", col.Name)
		}
	}
}

// computed resolves an expression that computes from literals, parameters and now(). Such an
// expression is a value in a mutation or in the braces of a binding.
func (c *checker) computed(o syntax.Operand, fits func(from value.Type, at diag.Span) bool) (plan.Expr, bool) {
	t, ok := c.argument(o, nil)
	return t.expr, ok && fits(t.typ, o.Source().Span())
}

// unknownFunction returns the panic message for a call that the parser should have rejected.
func unknownFunction(name string) string {
	return fmt.Sprintf("check: the parser accepted the unknown function %s", name)
}
