package check

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// optionals checks and lowers the `optional` blocks among the clauses of a match, in source order. It
// declares their variables in sc. A block sees the variables of the blocks before it.
func (c *checker) optionals(clauses []syntax.Clause, sc *scope) map[*syntax.Optional]plan.Clause {
	var out map[*syntax.Optional]plan.Clause
	for _, cl := range clauses {
		o, ok := cl.(*syntax.Optional)
		if !ok {
			continue
		}
		if sc.outer != nil && !sc.subquery {
			c.misplacedOptional(o)
			continue
		}
		inner := &scope{outer: sc, vars: map[string]plan.VarID{}, optional: true}
		match := c.correlated("optional", o.Range, o.Match, inner)
		maps.Copy(sc.vars, inner.vars)
		if out == nil {
			out = map[*syntax.Optional]plan.Clause{}
		}
		out[o] = plan.Optional{Match: match}
	}
	return out
}

// misplacedOptional reports an `optional` block inside another block.
func (c *checker) misplacedOptional(o *syntax.Optional) {
	c.fault(MisplacedOptional, syntax.SpanOf(o.Tokens[0]), "write the block directly in match; a condition on its variables may follow it",
		"an optional block cannot be inside another block")
}

// requiredEnds reports each binding or traversal outside of `optional` blocks that uses an optional
// variable. A variable is optional if an `optional` block is the first clause, in source order, that
// binds it.
func (c *checker) requiredEnds(clauses []syntax.Clause) {
	if !slices.ContainsFunc(clauses, func(cl syntax.Clause) bool { _, ok := cl.(*syntax.Optional); return ok }) {
		return
	}
	optional := map[string]bool{} // by name: whether the first clause with the variable is an optional block
	for _, cl := range clauses {
		o, inBlock := cl.(*syntax.Optional)
		parts := []syntax.Clause{cl}
		if inBlock {
			parts = o.Match
		}
		for _, part := range parts {
			c.step(1)
			for _, t := range boundBy(part) {
				name := t.Value
				switch first, seen := optional[name]; {
				case name == "$_":
				case !seen:
					optional[name] = inBlock
				case first && !inBlock:
					c.fault(Unbound, syntax.SpanOf(t), "put this clause into the optional block, or move it before the block",
						"an optional block binds %s, so it may be null and no clause outside of optional blocks can bind or follow it", name)
				}
			}
		}
	}
}

// boundBy returns the variables of a binding or of a traversal.
func boundBy(cl syntax.Clause) []syntax.Token {
	switch cl := cl.(type) {
	case *syntax.Binding:
		return []syntax.Token{cl.Var}
	case *syntax.Traversal:
		if cl.EdgeVar != nil {
			return []syntax.Token{cl.From, *cl.EdgeVar, cl.To}
		}
		return []syntax.Token{cl.From, cl.To}
	case *syntax.TextClause, *syntax.Filter, *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All, *syntax.Optional:
	}
	return nil
}

// mayBeNull reports whether a variable may be null in the scope. An optional variable is never null
// inside the block that binds it.
func (c *checker) mayBeNull(id plan.VarID, sc *scope) bool {
	v := c.read.Vars[id]
	if !v.Optional {
		return false
	}
	for at := sc; at != nil; at = at.outer {
		if own, ok := at.vars[v.Name]; ok && own == id {
			return !at.optional
		}
	}
	return true
}

// nullable returns the type of a value that has type t for a node or an edge. The value is null if the
// variable is.
func (c *checker) nullable(id plan.VarID, t value.Type, sc *scope) value.Type {
	if c.mayBeNull(id, sc) {
		return t.Optional()
	}
	return t
}
