package ir

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ExprKind is the kind of an expression.
type ExprKind uint8

const (
	ExprConst    ExprKind = iota // a literal, an argument, or now
	ExprProp                     // property of a variable
	ExprID                       // id of a variable's entity
	ExprEnd                      // id of an end of an edge; see endPart
	ExprMatch                    // whether a text match holds
	ExprBM25                     // relevance
	ExprNearest                  // distance
	ExprFused                    // score of an rrf
	ExprApply                    // result of an operator or a function
	ExprTest                     // whether a comparison is true
	ExprHolds                    // whether a block is true
	ExprBlockAgg                 // aggregate over the matches of a block
	ExprMember                   // field of the first row of a block
	ExprAgg                      // result of an aggregate, in a column or sort key that computes with it
	ExprWalk                     // fact about a bound walk
	ExprOrigin                   // fact about the origin of an entity
	ExprRef                      // text that identifies a node among those of all types
)

// Expr is a bound expression. Its value is either constant during a run or a vector over a
// frame.
type Expr struct {
	Kind  ExprKind   // how the value is computed
	Src   plan.Expr  // the expression in the plan
	Type  value.Type // type of the value
	Var   plan.VarID // the variable, unless the value is constant
	Prop  int        // for ExprProp: position in the properties of the type
	To    bool       // for ExprEnd: the target end instead of the source
	Part  endPart    // for ExprEnd: what it takes from the end
	Match int        // position in Query.Texts
	Score int        // position in Query.Relevances, distances or fusions
	Slot  int        // the vector for its values
	Args  []*Expr    // for ExprApply
	Cond  *Cond      // for ExprTest
	Agg   int        // for ExprAgg: position in Query.Aggs

	// Optional is set if the value belongs to the variable v alone, and v is optional.
	Optional bool

	Holding  int          // for ExprHolds: position in Query.Holdings
	Subquery int          // for ExprBlockAgg and ExprMember: position in Query.Subqueries
	Choice   int          // for ExprApply of `if` and `coalesce`: number of the call
	Vars     []plan.VarID // for ExprApply of `if` and `coalesce`: the variables that the arguments use

	Form form   // for ExprConst: the text that it takes from a parameter that is a node
	Node string // for IDForm and TypedForm: the name of the node type

	Fact plan.OriginFact // for ExprOrigin

	Walk   plan.WalkPart // for ExprWalk
	Near   RouteEnd      // for ExprWalk of nodes and types: the variables at the ends
	Far    RouteEnd
	Search int // for ExprWalk of nodes and types: position in Query.Routes
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
	case plan.Origin:
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
func (b *binder) expr(e plan.Expr) (*Expr, error) {
	b.Step(1)
	out := &Expr{Src: e, Slot: b.Vecs}
	b.Vecs++
	var err error
	switch e := e.(type) {
	case plan.Lit:
		if !e.Value.IsNull() {
			out.Type = e.Value.Type()
		}
	case plan.ParamRef:
		if e.Index < 0 || e.Index >= len(b.Params) {
			return nil, Mismatch("there is no parameter %d", e.Index)
		}
		if b.Params[e.Index].Interface != "" {
			return b.argument(e), nil
		}
		out.Type = b.Params[e.Index].Type
	case plan.Now:
		out.Type = value.Of(value.DateTime)
		b.UsesNow = true
	case plan.Prop:
		out.Kind, out.Var = ExprProp, e.Var
		out.Prop, err = b.prop(e)
		if err == nil {
			out.Type = b.Types[e.Var].Props[out.Prop].Type
		}
	case plan.ID:
		out.Kind, out.Var, out.Type = ExprID, e.Var, value.Of(value.String)
	case plan.Whole:
		if b.IsShared(e.Var) {
			return b.ref(e), nil
		}
		// Outside a projection, a node evaluates to its id.
		out.Kind, out.Var, out.Type = ExprID, e.Var, value.Of(value.String)
	case plan.Endpoint:
		out.Kind, out.Var, out.To, out.Type = ExprEnd, e.Var, e.To, value.Of(value.String)
		err = b.checkEnd(e.Var, e.To, false)
	case plan.EndNode:
		out.Kind, out.Var, out.To, out.Type = ExprEnd, e.Var, e.To, value.Of(value.String)
		err = b.checkEnd(e.Var, e.To, true)
	case plan.Origin:
		out.Kind, out.Var, out.Fact, out.Type = ExprOrigin, e.Var, e.Fact, e.Fact.Type()
	case plan.WalkPart:
		err = b.walkPart(e, out)
	case plan.Matched:
		out.Kind, out.Type = ExprMatch, value.Of(value.Bool)
		out.Match, err = b.text(e.Match)
		out.Var = e.Match.Prop.Var
	case plan.BM25, plan.Nearest, plan.RRF:
		err = b.score(e, out)
	case plan.Apply:
		err = b.apply(e, out)
	case plan.Test:
		err = b.test(e, out)
	case plan.Holds:
		err = b.holds(e, out)
	case plan.BlockAgg:
		out.Kind = ExprBlockAgg
		if out.Subquery, err = b.subquery(e); err == nil {
			out.Type = b.Subqueries[out.Subquery].Agg.Type
		}
	case plan.Member:
		err = b.member(e, out)
	case plan.BlockRows:
		return nil, Mismatch("an expression computes with records")
	case plan.Agg:
		if !b.composes {
			return nil, Mismatch("the aggregate %s is not allowed here", e.Func)
		}
		b.composes = false // aggregates do not nest
		out.Kind = ExprAgg
		out.Agg, err = b.aggregate(e, plan.NoVar)
		b.composes = true
		if err == nil {
			out.Type = b.Aggs[out.Agg].Type
		}
	}
	switch out.Kind {
	case ExprProp, ExprID, ExprEnd, ExprMatch, ExprBM25, ExprNearest, ExprOrigin:
		out.Optional = err == nil && b.Read.Vars[out.Var].Optional
	}
	return out, err
}

// prop returns the position of a property in its type, after a check of its declared type.
func (b *binder) prop(e plan.Prop) (int, error) {
	t := b.Types[e.Var]
	p, ok := t.Prop(e.Name)
	if !ok {
		return 0, Mismatch("%s %s has no property %s", t.Entity, t.Name, e.Name)
	}
	if has := t.Props[p].Type; has.Kind != e.Type.Kind || has.List != e.Type.List {
		return 0, Mismatch("property %s of %s %s is of type %s, expected %s", e.Name, t.Entity, t.Name, has, e.Type)
	}
	return p, nil
}

// SameExpr reports whether two expressions are equal.
func SameExpr(a, b plan.Expr) bool { return reflect.DeepEqual(a, b) }

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
	case plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, nil:
	}
	return fmt.Sprintf("%T%v", e, e)
}
