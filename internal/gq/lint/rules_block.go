package lint

import (
	"slices"

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
	walkClauses(slices.Concat(p.Plan.Read.Match, p.Plan.Read.Having), func(c plan.Clause) {
		p.in.Meter.Step(1)
		if f, ok := c.(plan.Filter); ok {
			if test, ok := f.Cond.(plan.NullTest); ok {
				if ref, ok := test.Expr.(plan.ParamRef); ok {
					tested[ref.Index] = true
				}
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

// blocks calls visit for every clause of a read, in source order. The argument `inside` says
// whether a `not` or `exists` block contains the clause. It does not count blocks that can be
// dropped as a whole.
func (p *queryPass) blocks(visit func(c syntax.Clause, inside bool)) {
	r, ok := p.Syntax.Body.(*syntax.Read)
	if !ok {
		return
	}
	var walk func(clauses []syntax.Clause, inside bool)
	walk = func(clauses []syntax.Clause, inside bool) {
		for _, c := range clauses {
			p.in.Meter.Step(1)
			visit(c, inside)
			within := inside
			switch c := c.(type) {
			case *syntax.Not, *syntax.Exists:
				within = !droppable(c)
			case *syntax.Any, *syntax.All, *syntax.Optional, *syntax.Binding, *syntax.Traversal, *syntax.TextClause, *syntax.Filter:
			}
			walk(syntax.Block(c), within)
		}
	}
	walk(r.Match, false)
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

// optional returns the name, with $, of the first operand that is an optional parameter.
func (p *queryPass) optional(operands ...syntax.Operand) string {
	for _, o := range operands {
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
	return "the parameter"
}
