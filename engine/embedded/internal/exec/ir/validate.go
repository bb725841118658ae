package ir

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// maxVars is the maximum number of variables in a read. Each step has a frame with a column
// for each bound variable, so memory grows with the square of their number. The limit is
// far above the number in hand-written queries.
const maxVars = 256

// validate checks that the parts of a read refer to each other as the language's checker
// guarantees, because a plan may have been made by hand. Binding and running a plan rely on
// this.
func (b *binder) validate() error {
	if n := len(b.Read.Vars); n > maxVars {
		return &engine.TooLarge{Resource: "variables of a query", Limit: maxVars, Actual: int64(n)}
	}
	if err := CheckValid(b.Read.Valid, b.Params, b.Schema); err != nil {
		return err
	}
	bound := map[plan.VarID]bool{}
	if err := b.matchClauses(b.Read.Match, bound); err != nil {
		return err
	}
	// The result may use the variables that the match binds outside blocks.
	result := func(e plan.Expr) error {
		if err := b.checkNames(e); err != nil {
			return err
		}
		var err error
		uses(e, func(v plan.VarID) {
			if !bound[v] {
				err = Mismatch("the result or its order uses $%s, which is not bound outside a block", b.Read.Vars[v].Name)
			}
		})
		return err
	}
	for _, c := range b.Read.Columns {
		b.Step(1)
		if err := result(c.Expr); err != nil {
			return err
		}
		if plan.HasAggregate(c.Expr) && !b.Read.Grouped {
			return Mismatch("the query returns the aggregate %s, but is not marked as grouped", c.Name)
		}
	}
	if err := b.havingNames(b.Read.Having, result); err != nil {
		return err
	}
	for _, o := range b.Read.Order {
		b.Step(1)
		if err := result(o.Expr); err != nil {
			return err
		}
		if plan.HasAggregate(o.Expr) && !b.Read.Grouped {
			return Mismatch("the query orders by an aggregate, but is not marked as grouped")
		}
	}
	for _, v := range b.Read.Ties {
		if err := result(plan.ID{Var: v}); err != nil {
			return err
		}
	}
	return b.checkLimit()
}

// CheckValid checks the time of `valid` in a read with these parameters; it may be nil. The error is a *engine.SchemaMismatch.
func CheckValid(v *plan.Valid, params []plan.Param, s *schema.Schema) error {
	if v == nil {
		return nil
	}
	if !s.HasValid() {
		return Mismatch("no type says with @valid when its entities are valid; read a state whose schema does, or leave out `valid`")
	}
	times := []plan.Expr{v.From}
	if v.To != nil {
		times = append(times, v.To)
	}
	for _, e := range times {
		var t value.Type
		switch e := e.(type) {
		case plan.Now:
			continue
		case plan.Lit:
			t = e.Value.Type()
		case plan.ParamRef:
			if e.Index < 0 || e.Index >= len(params) {
				return Mismatch("the time of `valid` uses parameter %d, but the query has %d parameters", e.Index, len(params))
			}
			t = params[e.Index].Type
		default:
			return Mismatch("the time of `valid` is no literal, parameter or now()")
		}
		if t.Kind != value.Date && t.Kind != value.DateTime || t.List || t.Nullable {
			return Mismatch("the time of `valid` is of type %s, expected Date or DateTime", t)
		}
	}
	return nil
}

// checkLimit checks the parameter that gives the limit of the read, if there is one. The bounds of
// the parameter must be a minimum of 0 or more and a maximum equal to the field `Limit` of the
// read.
func (b *binder) checkLimit() error {
	by := b.Read.LimitBy
	if by == nil {
		return nil
	}
	if by.Index < 0 || by.Index >= len(b.Params) {
		return Mismatch("the limit uses parameter %d, but the query has %d parameters", by.Index, len(b.Params))
	}
	p := &b.Params[by.Index]
	if p.Type.Kind != value.I32 || p.Type.List || p.Type.Nullable {
		return Mismatch("the limit $%s is %s, expected I32", p.Name, p.Type)
	}
	lo, hi := p.Bounds.Min, p.Bounds.Max
	if lo == nil || hi == nil || lo.Kind() != value.I32 || hi.Kind() != value.I32 || lo.Int() < 0 || hi.Int() != b.Read.Limit {
		return Mismatch("the range of the limit $%s does not lead from 0 or more to %d", p.Name, b.Read.Limit)
	}
	return nil
}

// matchClauses checks the clauses of the match or of a subquery. The set `bound` contains the variables that are
// bound around them; matchClauses adds the variables that the clauses bind.
func (b *binder) matchClauses(match []plan.Clause, bound map[plan.VarID]bool) error {
	outer := maps.Clone(bound)
	isOptional := func(c plan.Clause) bool { _, ok := c.(plan.Optional); return ok }
	if err := b.clauses(slices.DeleteFunc(slices.Clone(match), isOptional), bound); err != nil {
		return err
	}
	nullable := func(v plan.VarID) bool { return v != plan.NoVar && b.Read.Vars[v].Optional }
	for v := range bound {
		if nullable(v) && !outer[v] {
			return Mismatch("$%s is optional, but a clause outside of optional blocks binds it", b.Read.Vars[v].Name)
		}
	}
	for _, c := range match {
		o, ok := c.(plan.Optional)
		if !ok {
			continue
		}
		inner := map[plan.VarID]bool{}
		if err := b.clauses(o.Match, inner); err != nil {
			return err
		}
		for v := range inner {
			if v != plan.NoVar && !bound[v] && !nullable(v) {
				return Mismatch("$%s is not optional, but only an optional block binds it", b.Read.Vars[v].Name)
			}
			bound[v] = true
		}
	}
	return nil
}

// clauses checks a block. It adds the variables that the block binds to `bound`.
func (b *binder) clauses(list []plan.Clause, bound map[plan.VarID]bool) error {
	for _, c := range list {
		b.Step(1)
		switch c := c.(type) {
		case plan.Bind:
			if err := b.checkVariable(c.Var, plan.Node); err != nil {
				return err
			}
			bound[c.Var] = true
		case plan.Traverse:
			if err := b.traversal(c); err != nil {
				return err
			}
			bound[c.From], bound[c.To], bound[c.EdgeVar] = true, true, true
		case plan.Filter:
			if err := b.condition(c.Cond); err != nil {
				return err
			}
		case plan.Not, plan.Exists, plan.Any, plan.All:
			if err := b.clauses(plan.Block(c), map[plan.VarID]bool{}); err != nil {
				return err
			}
		case plan.Optional:
			return Mismatch("an optional block is inside another block")
		default:
			return Mismatch("a clause is empty")
		}
	}
	return nil
}

// traversal checks the variables, bounds and edge type of a traversal.
func (b *binder) traversal(c plan.Traverse) error {
	for _, v := range []plan.VarID{c.From, c.To} {
		if err := b.checkVariable(v, plan.Node); err != nil {
			return err
		}
	}
	least := 0
	if c.From == c.To {
		least = 1
	}
	if c.Walk && c.EdgeVar != plan.NoVar {
		if err := b.checkVariable(c.EdgeVar, plan.Walk); err != nil {
			return err
		}
	}
	switch {
	case c.Walk && (c.Min < least || c.Max < c.Min):
		return Mismatch("a walk along %s has the invalid bounds %d to %d", c.Edge, c.Min, c.Max)
	case !c.Walk && (c.Min != 1 || c.Max != 1):
		return Mismatch("a traversal of %s that is not a walk has the bounds %d to %d", c.Edge, c.Min, c.Max)
	case c.EdgeVar == plan.NoVar:
		return nil
	case c.Walk:
		return b.walkLink(c)
	case c.Or != nil:
		return Mismatch("a traversal of %s or other edges binds an edge variable", c.Edge)
	}
	if err := b.checkVariable(c.EdgeVar, plan.Edge); err != nil {
		return err
	}
	if t := b.Schema.Type(plan.Edge, c.Edge); t != b.Types[c.EdgeVar] {
		return Mismatch("$%s is not an edge of type %s", b.Read.Vars[c.EdgeVar].Name, c.Edge)
	}
	return nil
}

// condition checks the names that a condition uses.
func (b *binder) condition(c plan.Cond) error {
	switch c := c.(type) {
	case plan.Compare:
		if err := b.checkNames(c.Left); err != nil {
			return err
		}
		return b.checkNames(c.Right)
	case plan.TextMatch:
		return b.textMatch(c)
	case plan.NullTest:
		return b.checkNames(c.Expr)
	}
	return Mismatch("a filter is empty")
}

// checkNames checks that the names in an expression exist.
func (b *binder) checkNames(e plan.Expr) error {
	switch e := e.(type) {
	case nil:
		return Mismatch("an expression is missing")
	case plan.Agg:
		if e.Func.Row() == nil {
			return Mismatch("there is no aggregate %d", uint8(e.Func))
		}
		return b.checkNames(e.Arg)
	case plan.Matched:
		return b.textMatch(e.Match)
	case plan.Whole:
		return b.checkVariable(e.Var, plan.Node)
	case plan.BM25:
		if err := b.all(e.Prop, e.Query); err != nil {
			return err
		}
		return b.checkSearch(e.Prop)
	case plan.Nearest:
		if err := b.all(e.Prop, e.Vector); err != nil {
			return err
		}
		return b.checkSearch(e.Prop)
	case plan.Apply:
		if row := e.Func.Row(); row == nil || !row.TakesArgs(len(e.Args)) {
			return Mismatch("there is no function %d with %d arguments", uint8(e.Func), len(e.Args))
		}
		return b.all(e.Args...)
	case plan.Test:
		return b.condition(e.Cond)
	case plan.Holds:
		return b.checkHolds(e)
	case plan.BlockAgg, plan.BlockRows:
		return b.checkSubquery(e)
	case plan.Member:
		return b.checkMember(e)
	case plan.RRF:
		for _, rank := range []plan.Expr{e.First, e.Second} {
			switch rank.(type) {
			case plan.BM25, plan.Nearest:
			default:
				return Mismatch("rrf takes only bm25 and nearest rankings")
			}
		}
		if e.K == nil {
			return b.all(e.First, e.Second)
		}
		return b.all(e.First, e.Second, e.K)
	case plan.WalkPart:
		return b.checkWalkPart(e)
	case plan.Origin:
		if !e.Fact.Valid() {
			return Mismatch("there is no fact %d about an origin", uint8(e.Fact))
		}
	case plan.Lit, plan.ParamRef, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Now:
	}
	var err error
	uses(e, func(v plan.VarID) {
		switch {
		case v < 0 || int(v) >= len(b.Types):
			err = Mismatch("there is no variable %d", v)
		case b.Types[v] == WalkType:
			err = Mismatch("$%s is a walk, which cannot be used as a value", b.Read.Vars[v].Name)
		}
	})
	return err
}

// all checks the names that expressions use.
func (b *binder) all(list ...plan.Expr) error {
	for _, e := range list {
		if err := b.checkNames(e); err != nil {
			return err
		}
	}
	return nil
}

// textMatch checks the kind of a text match and the names that it uses.
func (b *binder) textMatch(m plan.TextMatch) error {
	if m.Kind > plan.Fuzzy {
		return Mismatch("there is no text match %d", m.Kind)
	}
	if err := b.all(m.Prop, m.Query); err != nil {
		return err
	}
	if err := b.checkSearch(m.Prop); err != nil {
		return err
	}
	if m.MaxEdits == nil {
		return nil
	}
	return b.checkNames(m.MaxEdits)
}

// checkVariable checks that the plan has a variable, and that the variable binds a node or an edge.
// The parameter `entity` says which of the two it must be.
func (b *binder) checkVariable(v plan.VarID, entity plan.Entity) error {
	if v < 0 || int(v) >= len(b.Types) {
		return Mismatch("there is no variable %d", v)
	}
	if b.Types[v].Entity != entity {
		return Mismatch("$%s is not of the kind %s", b.Read.Vars[v].Name, entity)
	}
	return nil
}
