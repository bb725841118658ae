package lint

import (
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rule about `optional` blocks.

// dropsUnmatched reports each condition outside of `optional` blocks that is never true when an optional
// variable is null. Such a condition removes the rows that the block keeps.
func dropsUnmatched(p *queryPass) {
	for _, m := range p.matches() {
		p.dropsUnmatched(m)
	}
}

// dropsUnmatched reports the conditions of one match.
func (p *queryPass) dropsUnmatched(m matched) {
	optional := map[string]bool{}
	for _, v := range m.read.Vars {
		if v.Optional {
			optional["$"+v.Name] = true
		}
	}
	if len(optional) == 0 {
		return
	}
	check := func(at syntax.Range, operands ...syntax.Operand) {
		for _, o := range operands {
			if name := p.strictUse(o, optional); name != "" {
				p.report(at.Span(), "to keep these rows, put the condition into the optional block; to require a match, write the clauses of the block without optional", nil,
					"this condition removes the rows in which %s is null", name)
				return
			}
		}
	}
	var conditions func(clauses []syntax.Clause)
	conditions = func(clauses []syntax.Clause) {
		for _, c := range clauses {
			p.in.Meter.Step(1)
			switch c := c.(type) {
			case *syntax.Filter:
				if c.Null == nil && !c.Optional {
					check(c.Range, c.Left, c.Right)
				}
			case *syntax.TextClause:
				if c.Op == nil {
					check(c.Range, c.Call)
				}
			case *syntax.All:
				conditions(c.Conds)
			case *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.Optional, *syntax.Binding, *syntax.Traversal:
			}
		}
	}
	conditions(m.clauses)
}

// strictUse returns a variable of the set with which an operand is always null when the variable is null.
// It returns "" if there is none.
func (p *queryPass) strictUse(o syntax.Operand, set map[string]bool) string {
	p.in.Meter.Step(1)
	var parts []syntax.Operand
	switch o := o.(type) {
	case *syntax.VarRef:
		if set[o.Tokens[0].Value] {
			return o.Tokens[0].Value
		}
	case *syntax.PropRef:
		if set[o.Var.Value] {
			return o.Var.Value
		}
	case *syntax.OriginRef:
		if set[o.Var.Value] {
			return o.Var.Value
		}
	case *syntax.Binary:
		parts = []syntax.Operand{o.Left, o.Right}
	case *syntax.Call:
		if o.Name.Value != "coalesce" && o.Name.Value != "if" {
			parts = o.Args
		}
	case *syntax.Literal, *syntax.AliasRef, *syntax.Now, *syntax.ActorRef, *syntax.Comparison, *syntax.Condition, *syntax.NodeKey, *syntax.FieldRef, *syntax.Subquery: // a condition is never null
	}
	for _, part := range parts {
		if name := p.strictUse(part, set); name != "" {
			return name
		}
	}
	return ""
}
