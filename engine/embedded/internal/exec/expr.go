package exec

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// exprKind is the kind of an expression.
type exprKind uint8

const (
	exprConst    exprKind = iota // a literal, an argument, or now
	exprProp                     // property of a variable
	exprID                       // id of a variable's entity
	exprEnd                      // id of an end of an edge; see endPart
	exprMatch                    // whether a text match holds
	exprBM25                     // relevance
	exprNearest                  // distance
	exprFused                    // score of an rrf
	exprApply                    // result of an operator or a function
	exprTest                     // whether a comparison is true
	exprHolds                    // whether a block is true
	exprBlockAgg                 // aggregate over the matches of a block
	exprMember                   // field of the first row of a block
	exprAgg                      // result of an aggregate, in a column or sort key that computes with it
	exprWalk                     // fact about a bound walk
	exprRef                      // text that identifies a node among those of all types
)

// expr is a bound expression. Its value is either constant during a run or a vector over a
// frame.
type expr struct {
	kind  exprKind   // how the value is computed
	src   plan.Expr  // the expression in the plan
	typ   value.Type // type of the value
	v     plan.VarID // the variable, unless the value is constant
	prop  int        // for exprProp: position in the properties of the type
	to    bool       // for exprEnd: the target end instead of the source
	part  endPart    // for exprEnd: what it takes from the end
	match int        // position in query.texts
	score int        // position in query.relevances, distances or fusions
	slot  int        // the vector for its values
	args  []*expr    // for exprApply
	cond  *cond      // for exprTest
	agg   int        // for exprAgg: position in query.aggs

	// optional is set if the value belongs to the variable v alone, and v is optional.
	optional bool

	holding  int          // for exprHolds: position in query.holdings
	subquery int          // for exprBlockAgg and exprMember: position in query.subqueries
	choice   int          // for exprApply of `if` and `coalesce`: position in evaluator.choices
	vars     []plan.VarID // for exprApply of `if` and `coalesce`: the variables that the arguments use

	form form   // for exprConst: the text that it takes from a parameter that is a node
	node string // for idForm and typedForm: the name of the node type

	walk   plan.WalkPart // for exprWalk
	near   routeEnd      // for exprWalk of nodes and types: the variables at the ends
	far    routeEnd
	search int // for exprWalk of nodes and types: position in query.routes
}

// uses calls f for each variable of an expression.
func uses(e plan.Expr, f func(plan.VarID)) {
	switch e := e.(type) {
	case plan.Prop:
		f(e.Var)
	case plan.ID:
		f(e.Var)
	case plan.Endpoint:
		f(e.Var)
	case plan.EndNode:
		f(e.Var)
	case plan.WalkPart:
		f(e.Var)
		f(e.From)
		f(e.To)
	case plan.Whole:
		f(e.Var)
	case plan.Agg:
		uses(e.Arg, f)
	case plan.Matched:
		usesMatch(e.Match, f)
	case plan.BM25:
		f(e.Prop.Var)
	case plan.Nearest:
		f(e.Prop.Var)
	case plan.RRF:
		uses(e.First, f)
		uses(e.Second, f)
	case plan.Apply, plan.Test, plan.Member, plan.NodeRef:
		for _, o := range plan.Operands(e) {
			uses(o, f)
		}
	case plan.BlockAgg, plan.BlockRows:
		_, outer, _ := plan.Subquery(e)
		for _, v := range outer {
			f(v)
		}
	case plan.Holds:
		for _, v := range e.Outer {
			f(v)
		}
	case plan.Lit, plan.ParamRef, plan.Now, nil:
	}
}

// usesMatch calls f for each variable of a text match.
func usesMatch(m plan.TextMatch, f func(plan.VarID)) {
	f(m.Prop.Var)
	uses(m.Query, f)
}

// usesCond calls f for each variable of a condition.
func usesCond(c plan.Cond, f func(plan.VarID)) {
	switch c := c.(type) {
	case plan.Compare:
		uses(c.Left, f)
		uses(c.Right, f)
	case plan.TextMatch:
		usesMatch(c, f)
	case plan.NullTest:
		uses(c.Expr, f)
	}
}

// expr binds an expression that is not an aggregate.
func (b *binder) expr(e plan.Expr) (*expr, error) {
	b.step(1)
	out := &expr{src: e, slot: b.vecs}
	b.vecs++
	var err error
	switch e := e.(type) {
	case plan.Lit:
		if !e.Value.IsNull() {
			out.typ = e.Value.Type()
		}
	case plan.ParamRef:
		if e.Index < 0 || e.Index >= len(b.params) {
			return nil, mismatch("there is no parameter %d", e.Index)
		}
		if b.params[e.Index].Interface != "" {
			return b.argument(e), nil
		}
		out.typ = b.params[e.Index].Type
	case plan.Now:
		out.typ = value.Of(value.DateTime)
		b.UsesNow = true
	case plan.Prop:
		out.kind, out.v = exprProp, e.Var
		out.prop, err = b.prop(e)
		if err == nil {
			out.typ = b.types[e.Var].Props[out.prop].Type
		}
	case plan.ID:
		out.kind, out.v, out.typ = exprID, e.Var, value.Of(value.String)
	case plan.Whole:
		if b.isShared(e.Var) {
			return b.ref(e), nil
		}
		// Outside a projection, a node evaluates to its id.
		out.kind, out.v, out.typ = exprID, e.Var, value.Of(value.String)
	case plan.Endpoint:
		out.kind, out.v, out.to, out.typ = exprEnd, e.Var, e.To, value.Of(value.String)
		err = b.checkEnd(e.Var, e.To, false)
	case plan.EndNode:
		out.kind, out.v, out.to, out.typ = exprEnd, e.Var, e.To, value.Of(value.String)
		err = b.checkEnd(e.Var, e.To, true)
	case plan.WalkPart:
		err = b.walkPart(e, out)
	case plan.Matched:
		out.kind, out.typ = exprMatch, value.Of(value.Bool)
		out.match, err = b.text(e.Match)
		out.v = e.Match.Prop.Var
	case plan.BM25, plan.Nearest, plan.RRF:
		err = b.score(e, out)
	case plan.Apply:
		err = b.apply(e, out)
	case plan.Test:
		err = b.test(e, out)
	case plan.Holds:
		err = b.holds(e, out)
	case plan.BlockAgg:
		out.kind = exprBlockAgg
		if out.subquery, err = b.subquery(e); err == nil {
			out.typ = b.subqueries[out.subquery].agg.typ
		}
	case plan.Member:
		err = b.member(e, out)
	case plan.BlockRows:
		return nil, mismatch("an expression computes with records")
	case plan.Agg:
		if !b.composes {
			return nil, mismatch("the aggregate %s is not allowed here", e.Func)
		}
		b.composes = false // aggregates do not nest
		out.kind = exprAgg
		out.agg, err = b.aggregate(e, plan.NoVar)
		b.composes = true
		if err == nil {
			out.typ = b.aggs[out.agg].typ
		}
	}
	switch out.kind {
	case exprProp, exprID, exprEnd, exprMatch, exprBM25, exprNearest:
		out.optional = err == nil && b.read.Vars[out.v].Optional
	}
	return out, err
}

// prop returns the position of a property in its type, after a check of its declared type.
func (b *binder) prop(e plan.Prop) (int, error) {
	t := b.types[e.Var]
	p, ok := t.Prop(e.Name)
	if !ok {
		return 0, mismatch("%s %s has no property %s", t.Entity, t.Name, e.Name)
	}
	if has := t.Props[p].Type; has.Kind != e.Type.Kind || has.List != e.Type.List {
		return 0, mismatch("property %s of %s %s is of type %s, expected %s", e.Name, t.Entity, t.Name, has, e.Type)
	}
	return p, nil
}

// sameExpr reports whether two expressions are equal.
func sameExpr(a, b plan.Expr) bool { return reflect.DeepEqual(a, b) }

// keyOf returns a text that is the same for equal expressions, and mostly different for
// others.
func keyOf(e plan.Expr) string {
	switch e := e.(type) {
	case plan.Lit:
		if e.Value.Kind() == value.String && !e.Value.IsList() {
			return e.Value.Str()
		}
		switch {
		case e.Value.IsNull() || e.Value.IsList():
			return ""
		case e.Value.Kind() == value.Vector: // it has no canonical text
			return fmt.Sprint(e.Value.Vector())
		}
		return e.Value.Kind().String() + value.Text(e.Value)
	case plan.Prop:
		return "." + e.Name + strconv.Itoa(int(e.Var))
	case plan.Matched:
		return e.Match.Kind.String() + keyOf(e.Match.Prop) + "(" + keyOf(e.Match.Query) + "," + keyOf(e.Match.MaxEdits)
	case plan.BM25:
		return "bm25" + keyOf(e.Prop) + "(" + keyOf(e.Query)
	case plan.Nearest:
		return "nearest" + keyOf(e.Prop) + "(" + keyOf(e.Vector)
	case plan.RRF:
		return "rrf(" + keyOf(e.First) + "," + keyOf(e.Second)
	case plan.Agg:
		if e.Distinct {
			return e.Func.String() + " distinct" + keyOf(e.Arg)
		}
		return e.Func.String() + keyOf(e.Arg)
	case plan.ParamRef:
		return "$" + strconv.Itoa(e.Index)
	case plan.Apply:
		key := e.Func.String() + "("
		for _, a := range e.Args {
			key += keyOf(a) + ","
		}
		return key
	case plan.Test:
		key := "test("
		for _, o := range plan.Operands(e) {
			key += keyOf(o) + ","
		}
		return key
	case plan.NodeRef:
		return "node(" + keyOf(e.Type) + "," + keyOf(e.ID)
	case plan.Holds:
		key := "holds("
		plan.WalkClauses([]plan.Clause{e.Block}, func(e plan.Expr) {
			if match, _, subquery := plan.Subquery(e); subquery && match != nil {
				return // the walk visits the expressions in the subquery next
			}
			if _, block := e.(plan.Holds); !block {
				key += keyOf(e) + ","
			}
		})
		return key
	case plan.BlockAgg, plan.BlockRows:
		match, _, _ := plan.Subquery(e)
		key := "subquery("
		visit := func(e plan.Expr) {
			switch e.(type) {
			case plan.Holds, plan.BlockAgg, plan.BlockRows: // their expressions come next
			default:
				key += keyOf(e) + ","
			}
		}
		plan.WalkClauses(match, visit)
		for _, r := range plan.Results(e) {
			plan.WalkExpr(r, visit)
		}
		return key
	case plan.Member:
		return "." + e.Name + keyOf(e.Of)
	case plan.ID, plan.Endpoint, plan.EndNode, plan.WalkPart, plan.Whole, plan.Now, nil:
	}
	return fmt.Sprintf("%T%v", e, e)
}
