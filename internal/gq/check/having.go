package check

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// having checks and lowers the conditions of a `having` clause. They use columns by their names, parameters
// and constants.
func (c *checker) having(list []syntax.Clause) []plan.Clause {
	if len(list) == 0 {
		return nil
	}
	c.inHaving = true
	defer func() { c.inHaving = false }()
	// The scope has no variables, because the conditions apply to the rows of the result.
	return c.columnConditions(list, &scope{vars: map[string]plan.VarID{}})
}

// columnConditions checks and lowers conditions on columns.
func (c *checker) columnConditions(list []syntax.Clause, sc *scope) []plan.Clause {
	out := make([]plan.Clause, 0, len(list))
	refuse := func(at syntax.Range, what string) {
		c.fault(NotCondition, at.Span(), "write it in match, or return a column for it and test the column", "having takes comparisons of columns, any and all, and this is %s", what)
	}
	for _, cl := range list {
		c.step(1)
		switch cl := cl.(type) {
		case *syntax.Filter:
			if cond, ok := c.condition(cl, sc); ok {
				out = append(out, cond)
			}
		case *syntax.Any:
			out = append(out, plan.Any{Conds: c.columnConditions(cl.Conds, sc)})
		case *syntax.All:
			out = append(out, plan.All{Conds: c.columnConditions(cl.Conds, sc)})
		case *syntax.Not, *syntax.Exists, *syntax.Optional:
			refuse(rangeOf(cl), "a block of clauses")
		case *syntax.Binding:
			refuse(cl.Range, "a binding")
		case *syntax.Traversal:
			refuse(cl.Range, "a traversal")
		case *syntax.TextClause:
			refuse(cl.Range, "a search")
		}
	}
	return out
}

// rangeOf returns the tokens of a block.
func rangeOf(cl syntax.Clause) syntax.Range {
	switch cl := cl.(type) {
	case *syntax.Not:
		return cl.Range
	case *syntax.Exists:
		return cl.Range
	case *syntax.Optional:
		return cl.Range
	case *syntax.Any:
		return cl.Range
	case *syntax.All:
		return cl.Range
	case *syntax.Binding, *syntax.Traversal, *syntax.TextClause, *syntax.Filter:
	}
	return syntax.Range{}
}
