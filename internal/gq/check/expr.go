package check

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// typed is a lowered operand. A literal keeps its source, so that it can still be converted to
// the type of the other side of a comparison.
type typed struct {
	expr plan.Expr       // the operand in the plan
	typ  value.Type      // the type of a scalar, list or vector
	node string          // the node type or the interface, if the operand is a whole node
	lit  *syntax.Literal // the source, if the operand is a literal; else nil
	ref  string          // the node type, if the operand is a parameter that is the id of a node

	shared bool   // `node` is an interface
	end    string // the interface, if the operand is an end of an edge that is an interface
	among  string // the interface, if the operand is a parameter that is a node of an interface

	fields []plan.Field // the fields, if the operand is a record or a list of records
}

// nodeVar returns a variable that can stand for the operand, which is a whole node.
func (t typed) nodeVar() plan.Var {
	if t.shared {
		return plan.Var{Entity: plan.Interface, Type: t.node}
	}
	return plan.Var{Entity: plan.Node, Type: t.node}
}

// String describes the operand for messages.
func (t typed) String() string {
	switch {
	case t.node != "":
		return "a " + t.node
	case t.among != "":
		return "a " + t.among
	case t.end != "":
		return "a " + t.end
	case t.lit != nil:
		return describe(t.lit)
	case t.fields != nil:
		return record(t.typ)
	}
	return withoutNull(t.typ)
}

// foreignNames maps keywords of other languages, which our grammar parses as names, to the
// advice on what to write instead.
var foreignNames = map[string]string{
	"null": noNull, "nil": noNull, "none": noNull,
	"distinct": "write return distinct { … }, count(distinct $p.x) or collect(distinct $p.x)",
	"limit":    "put `limit` and an integer after `return { … }`",
	"desc":     "write desc in order { … }", "asc": "write asc in order { … }",
	"case": "write if(condition, a, b), and another if as b for the next case", "when": "write if(condition, a, b)",
	"interval":     "write the unit of time as a function: now() - days(30), or hours, minutes or seconds",
	"current_date": "write date(now())", "current_timestamp": "write now()",
	"not": "write not { … } around the clauses that must not hold", "exists": "write exists { … }",
	"and": "write all { … } around the conditions", "or": "write any { … } around the alternatives",
	"in": comparisonForm, "is": comparisonForm, "matches": comparisonForm, "contains": comparisonForm, "starts_with": comparisonForm,
}

// comparisonForm is the help for a comparison with a word that is not in parentheses.
const comparisonForm = "put a comparison that is a value into parentheses: ($p.age is null) as unknown"

// noNull is the help for a comparison with null.
const noNull = "a comparison with null is never true: write $p.x is null, or $p.x is not null"

// operand resolves an operand. ok is false if the operand, or something that it depends on, has
// an error that has been reported.
func (c *checker) operand(o syntax.Operand, sc *scope) (t typed, ok bool) {
	c.step(1)
	switch o := o.(type) {
	case *syntax.Literal:
		c.step(len(o.Elems))
		v, err := literalValue(o)
		if err != nil {
			c.fault(Incomparable, o.Span(), "", "%v", err)
			return typed{}, false
		}
		return typed{expr: plan.Lit{Value: v}, typ: v.Type(), lit: o}, true
	case *syntax.Now:
		return typed{expr: plan.Now{}, typ: value.Of(value.DateTime)}, true
	case *syntax.ActorRef:
		return c.caller(o)
	case *syntax.OriginRef:
		return c.origin(o, sc)
	case *syntax.VarRef:
		return c.variable(o, sc)
	case *syntax.PropRef:
		return c.property(o, sc)
	case *syntax.Binary:
		return c.binary(o, sc)
	case *syntax.Comparison:
		return c.comparison(o, sc)
	case *syntax.Condition:
		return c.holds(o, sc)
	case *syntax.NodeKey:
		c.fault(Incomparable, o.Span(), "write a node only after from:, to: or where from = and where to =", "a node cannot be part of an expression")
		return typed{}, false
	case *syntax.Subquery:
		return c.subquery(o, sc)
	case *syntax.FieldRef:
		return c.field(o, sc)
	case *syntax.AliasRef:
		if c.old != nil && sc == nil {
			return c.oldValue(o)
		}
		name := o.Tokens[0].Value
		help, ok := foreignNames[name]
		if _, column := c.columns[name]; column || c.failed[name] {
			return c.column(name, o.Span(), nil)
		}
		if !ok {
			help = fmt.Sprintf("write %q for a text, $%s for a parameter or $p.%s for a property", name, name, name)
		}
		if c.inHaving && !ok {
			return c.column(name, o.Span(), func() string { return c.suggestColumn(name) })
		}
		c.fault(Unbound, o.Span(), help, "%s is not a known name here", name)
		return typed{}, false
	case *syntax.Call:
		return c.call(o, sc)
	}
	panic("check: operand has an unknown type")
}

// variable resolves a variable or parameter, and reports an error if it is unbound.
func (c *checker) variable(o *syntax.VarRef, sc *scope) (typed, bool) {
	tok := o.Tokens[0]
	switch {
	case sc == nil && c.names != nil:
		return c.writtenVariable(o)
	case sc == nil:
		return c.param(tok)
	}
	name := tok.Value[1:]
	id, ok := sc.find(name)
	if !ok {
		if _, isParam := c.params[name]; isParam {
			return c.param(tok)
		}
		c.unbound(tok, sc)
		return typed{}, false
	}
	c.info.Vars[id].Uses++
	v := c.read.Vars[id]
	switch v.Entity {
	case plan.Edge:
		c.fault(EdgeBindingMisuse, o.Span(), "use a property, or "+tok.Value+".id, .from or .to", "%s binds an edge, which cannot be used as a value", tok.Value)
		return typed{}, false
	case plan.Walk:
		c.fault(EdgeBindingMisuse, o.Span(), "use "+tok.Value+".hops, .nodes or .types", "%s binds a walk, which cannot be used as a value", tok.Value)
		return typed{}, false
	case plan.Node, plan.Interface:
	}
	return typed{expr: plan.Whole{Var: id}, node: v.Type, shared: v.Entity == plan.Interface, typ: c.nullable(id, value.Type{}, sc)}, v.Type != ""
}

// unbound reports that no clause binds a variable.
func (c *checker) unbound(tok syntax.Token, sc *scope) {
	name := tok.Value[1:]
	if name == "_" {
		c.fault(Unbound, syntax.SpanOf(tok), "give the variable a name in its binding", "$_ cannot be used as a value")
		return
	}
	if c.inHaving {
		c.fault(Unbound, syntax.SpanOf(tok), "return the value as a column, as in "+tok.Value+".x as x, and write the name of the column: x", "having uses the columns of the result, not the variables of the match")
		return
	}
	names := func() []string {
		names := slices.Concat(sc.names(), c.paramNames())
		slices.Sort(names)
		return names
	}
	help := ""
	if n := c.closest(name, names); n != "" {
		help = "did you mean $" + n + "?"
	}
	c.fault(Unbound, syntax.SpanOf(tok), help, "unbound variable $%s", name)
}

// property resolves a property of a variable, and reports an error if there is none.
func (c *checker) property(o *syntax.PropRef, sc *scope) (typed, bool) {
	if sc == nil {
		return c.writtenProperty(o)
	}
	name := o.Var.Value[1:]
	id, ok := sc.find(name)
	if !ok {
		if _, isParam := c.params[name]; isParam {
			c.fault(Unbound, syntax.SpanOf(o.Prop), "", "$%s is a parameter, and a parameter has no properties", name)
			return typed{}, false
		}
		c.unbound(o.Var, sc)
		return typed{}, false
	}
	c.info.Vars[id].Uses++
	v := c.read.Vars[id]
	switch {
	case v.Entity == plan.Walk:
		return c.walkPart(o, id, sc)
	case v.Type == "":
		return typed{}, false
	}
	id2 := c.nullable(id, value.Of(value.String), sc)
	if v.Entity == plan.Edge {
		e := c.schema.Edge(v.Type)
		switch o.Prop.Value {
		case "id":
			return typed{expr: plan.ID{Var: id}, typ: id2}, true
		case "from", "to":
			to := o.Prop.Value == "to"
			if _, shared := e.End(to); shared {
				return c.endNode(id, e, to, sc), true
			}
			return typed{expr: plan.Endpoint{Var: id, To: to}, typ: id2}, true
		}
		p := e.Property(o.Prop.Value)
		if p == nil {
			c.noProperty(o, v.Type, func() []string { return append(propNames(e.Properties), "id", "from", "to") })
			return typed{}, false
		}
		c.useProp(plan.Edge, e.Name, p, false)
		return typed{expr: plan.Prop{Var: id, Name: p.Name, Type: p.Type}, typ: c.nullable(id, p.Type, sc)}, true
	}
	n := c.nodeType(v)
	p := n.find(o.Prop.Value)
	switch {
	case p != nil:
		c.useNodeProp(n, p)
		return typed{expr: plan.Prop{Var: id, Name: p.Name, Type: p.Type}, typ: c.nullable(id, p.Type, sc)}, true
	case o.Prop.Value == "id":
		return typed{expr: plan.ID{Var: id}, typ: id2}, true
	}
	c.noProperty(o, v.Type, func() []string { return propNames(n.props) })
	return typed{}, false
}

// noProperty reports that a type has no such property.
func (c *checker) noProperty(o *syntax.PropRef, typ string, names func() []string) {
	c.fault(Unbound, syntax.SpanOf(o.Prop), c.suggest(o.Prop.Value, names), "%s has no property %s", typ, o.Prop.Value)
}

// value resolves an operand of return or order, where blobs are not allowed.
func (c *checker) value(o syntax.Operand, sc *scope) (typed, bool) {
	t, ok := c.operand(o, sc)
	if ok && t.typ.Kind == value.Blob {
		c.fault(BlobValue, o.Source().Span(), "", "a query cannot use a blob as a value")
		return t, false
	}
	return t, ok
}

// call checks and lowers a call of a function.
func (c *checker) call(o *syntax.Call, sc *scope) (typed, bool) {
	if o.Distinct != nil && plan.AggregateNamed(o.Name.Value) == nil {
		c.fault(BadAggregate, syntax.SpanOf(*o.Distinct), "write distinct only in count(distinct …), collect(distinct …) and return distinct { … }", "%s does not take distinct", o.Name.Value)
		return typed{}, false
	}
	if row := plan.AggregateNamed(o.Name.Value); row != nil {
		return c.aggregate(o, row, sc)
	}
	if row := plan.FunctionNamed(o.Name.Value); row != nil {
		return c.apply(o, row, sc)
	}
	if slices.Contains(plan.Units(), o.Name.Value) {
		c.misplacedUnit(o)
		return typed{}, false
	}
	if name := o.Name.Value; c.depth > 0 && (name == "bm25" || name == "nearest" || name == "rrf") {
		c.inSubquery(o, "rank the rows of the query itself, and use the score as a column or sort key of its own")
		return typed{}, false
	}
	switch o.Name.Value {
	case "search", "match_text", "fuzzy":
		m, ok := c.textMatch(o, sc)
		return typed{expr: plan.Matched{Match: m}, typ: value.Of(value.Bool)}, ok
	case "bm25":
		e, ok := c.bm25(o, sc)
		return typed{expr: e, typ: value.Of(value.F64)}, ok
	case "nearest":
		if !c.limit {
			c.fault(NearestLimit, o.Span(), "add limit 10", "a query with nearest needs a limit")
		}
		e, ok := c.nearestCall(o, sc)
		return typed{expr: e, typ: value.Of(value.F64)}, ok
	case "rrf":
		e, ok := c.rrf(o, sc)
		return typed{expr: e, typ: value.Of(value.F64)}, ok
	case syntax.TypeFunction:
		return c.typeOf(o, sc)
	}
	panic(unknownFunction(o.Name.Value))
}

// aggregate resolves a call of an aggregate. An aggregate may occur only in `return` and `order`,
// and not inside another aggregate.
func (c *checker) aggregate(call *syntax.Call, row *plan.Aggregate, sc *scope) (typed, bool) {
	switch {
	case c.depth > 0:
		c.inSubquery(call, "write the aggregate as a block of its own, such as "+row.Name+" { … }")
		return typed{}, false
	case c.inHaving:
		c.fault(BadAggregate, call.Span(), "return the aggregate as a column, as in "+row.Name+"($p) as n, and write the name of the column: n", "having uses the columns of the result, not %s", row.Name)
		return typed{}, false
	case c.aggregating:
		c.fault(BadAggregate, call.Span(), "return the inner aggregate in another query", "%s is inside another aggregate", row.Name)
		return typed{}, false
	case c.columns == nil:
		c.fault(BadAggregate, call.Span(), "use an aggregate only in return and order", "%s is inside a condition", row.Name)
		return typed{}, false
	}
	if len(call.Args) != 1 {
		c.fault(BadAggregate, call.Span(), "", "%s has %d arguments, want 1", row.Name, len(call.Args))
		return typed{}, false
	}
	if call.Distinct != nil && !row.Distinct {
		c.fault(BadAggregate, syntax.SpanOf(*call.Distinct), "remove distinct, or write count(distinct …) or collect(distinct …)", "%s does not take distinct", row.Name)
		return typed{}, false
	}
	c.aggregating = true
	arg, ok := c.value(call.Args[0], sc)
	c.aggregating = false
	if !ok {
		return typed{}, false
	}
	t := typed{expr: plan.Agg{Func: row.Func, Distinct: call.Distinct != nil, Arg: arg.expr}, typ: row.Result(arg.typ)}
	switch {
	case row.Func != plan.Collect:
	case arg.node != "":
		t.fields = wholeFields(c.nodeType(arg.nodeVar()).props)
	case arg.end != "":
		t.fields = arg.fields
	}
	return t, c.accepts(row, arg, call.Distinct != nil, call.Args[0].Source().Span())
}
