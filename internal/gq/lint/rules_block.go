package lint

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about blocks inside a match.

// nullTested returns the set of parameters, by index, that a condition of the query tests for null.
func (p *queryPass) nullTested() map[int]bool {
	if p.Plan.Read == nil {
		return nil
	}
	tested := map[int]bool{}
	p.Plan.Read.WalkConds(func(c plan.Cond) {
		p.in.Meter.Step(1)
		if test, ok := c.(plan.NullTest); ok {
			if ref, ok := test.Expr.(plan.ParamRef); ok {
				tested[ref.Index] = true
			}
		}
	})
	return tested
}

// changedNot reports each `not` block in which every condition ends with ?. In earlier versions
// such a block kept no row when the call left out all of its parameters.
func changedNot(p *queryPass) {
	p.blocks(func(c syntax.Clause, _ bool) {
		n, ok := c.(*syntax.Not)
		if !ok || !droppable(n) {
			return
		}
		param := p.firstOptional(n.Match)
		p.report(syntax.SpanOf(n.Tokens[0]), "silence L130 here if this is intended; to keep no row, add the condition "+param+" is not null", nil,
			"a call without %s ignores this block; in earlier versions it returned no rows", param)
	})
}

// optionalInBlock reports each condition with ? inside a `not` or `exists` block, unless the whole
// block can be dropped.
func optionalInBlock(p *queryPass) {
	p.blocks(func(c syntax.Clause, inside bool) {
		if !inside {
			return
		}
		switch c := c.(type) {
		case *syntax.Filter:
			if c.Optional {
				p.reportOptional(c.Range, c.Left, c.Right)
			}
		case *syntax.TextClause:
			if c.Optional {
				p.reportOptional(c.Range, c.Right)
			}
		case *syntax.Binding:
			for _, m := range c.Props {
				if m.Optional {
					p.reportOptional(m.Range, m.Value)
				}
			}
		case *syntax.Traversal, *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All, *syntax.Optional:
		}
	})
}

// reportOptional reports a condition with ? in a block.
func (p *queryPass) reportOptional(at syntax.Range, operands ...syntax.Operand) {
	param := p.optional(operands...)
	p.report(at.Span(), "to ignore the whole block instead, remove the ? and write any { "+param+" is null … } around the block", nil,
		"a call without %s ignores this condition, and the rest of the block still applies", param)
}

// blocks calls visit for every clause of a read, including the clauses of the blocks within expressions.
// It does not call visit for these blocks themselves. The argument `inside` says whether a `not` or
// `exists` block contains the clause. It does not count blocks that can be dropped as a whole.
func (p *queryPass) blocks(visit func(c syntax.Clause, inside bool)) {
	r, ok := p.Syntax.Body.(*syntax.Read)
	if !ok {
		return
	}
	var walk func(clauses []syntax.Clause, inside bool)
	within := func(c syntax.Clause, inside bool) bool {
		switch c := c.(type) {
		case *syntax.Not, *syntax.Exists:
			return !droppable(c)
		case *syntax.Any, *syntax.All, *syntax.Optional, *syntax.Binding, *syntax.Traversal, *syntax.TextClause, *syntax.Filter:
		}
		return inside
	}
	var operand func(o syntax.Operand)
	operand = func(o syntax.Operand) {
		syntax.Blocks(o, func(b syntax.Operand) {
			clauses, results := syntax.Inside(b)
			c, condition := b.(*syntax.Condition)
			walk(clauses, condition && within(c.Block, false))
			for _, o := range results {
				operand(o)
			}
		})
	}
	walk = func(clauses []syntax.Clause, inside bool) {
		for _, c := range clauses {
			p.in.Meter.Step(1)
			visit(c, inside)
			for _, o := range syntax.Operands(c) {
				operand(o)
			}
			walk(syntax.Block(c), within(c, inside))
		}
	}
	walk(r.Match, false)
	for _, col := range r.Returns {
		operand(col.Expr)
	}
	for _, o := range r.Order {
		operand(o.Expr)
	}
}

// droppable reports whether a clause has no effect when a call leaves out all optional parameters.
// Such a clause is a condition that ends with ?, or a block that contains only such clauses.
func droppable(c syntax.Clause) bool {
	switch c := c.(type) {
	case *syntax.Filter:
		return c.Optional
	case *syntax.TextClause:
		return c.Optional
	case *syntax.Binding, *syntax.Traversal:
		return false
	case *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All, *syntax.Optional:
	}
	for _, inner := range syntax.Block(c) {
		if !droppable(inner) {
			return false
		}
	}
	return true
}

// firstOptional returns the name, with $, of the first optional parameter in the conditions of a
// droppable block.
func (p *queryPass) firstOptional(clauses []syntax.Clause) string {
	for _, c := range clauses {
		switch c := c.(type) {
		case *syntax.Filter:
			return p.optional(c.Left, c.Right)
		case *syntax.TextClause:
			return p.optional(c.Right)
		case *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All, *syntax.Optional:
			return p.firstOptional(syntax.Block(c))
		case *syntax.Binding, *syntax.Traversal:
		}
	}
	return "the parameter"
}

// optional returns the name, with $, of the first optional parameter in the operands.
func (p *queryPass) optional(operands ...syntax.Operand) string {
	if name := p.findOptional(operands); name != "" {
		return name
	}
	return "the parameter"
}

// findOptional is like optional, but returns "" if no operand has an optional parameter.
func (p *queryPass) findOptional(operands []syntax.Operand) string {
	for _, o := range operands {
		p.in.Meter.Step(1)
		if name := p.findOptional(syntax.Parts(o)); name != "" {
			return name
		}
		ref, ok := o.(*syntax.VarRef)
		if !ok {
			continue
		}
		for _, param := range p.Plan.Params {
			if name := ref.Tokens[0].Value; name == "$"+param.Name && param.Type.Nullable {
				return name
			}
		}
	}
	return ""
}

// nullParam returns the index of an optional parameter without which an expression is always null. It
// reports false if there is none.
func (p *queryPass) nullParam(e plan.Expr) (int, bool) {
	switch e := e.(type) {
	case plan.ParamRef:
		return e.Index, p.Plan.Params[e.Index].Type.Nullable
	case plan.Apply:
		args := e.Args
		every := e.Func == plan.Coalesce || e.Func == plan.If
		if e.Func == plan.If {
			args = args[1:]
		}
		found, ok := 0, false
		for _, a := range args {
			i, null := p.nullParam(a)
			switch {
			case null && !every:
				return i, true
			case every && (!null || ok && i != found):
				return 0, false
			case null:
				found, ok = i, true
			}
		}
		return found, ok
	case plan.Lit, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, plan.Agg, plan.Matched, plan.BM25, plan.Nearest, plan.RRF,
		plan.Test, plan.Holds, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef, plan.BlockAgg, plan.BlockRows, plan.Member:
	}
	return 0, false
}
