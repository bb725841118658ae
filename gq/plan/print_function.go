package plan

import (
	"strconv"
	"strings"
)

// apply formats an operator or a function. It puts an operator that is an operand of another one in
// parentheses.
func (p *printer) apply(e Apply) string {
	row := e.Func.Row()
	if row == nil {
		return e.Func.String() + "(" + p.list(e.Args) + ")"
	}
	switch row.Form {
	case Infix:
		return p.factor(e.Args[0]) + " " + row.Name + " " + p.factor(e.Args[1])
	case Shift:
		return p.factor(e.Args[0]) + " " + row.Name + " " + row.Unit + "(" + p.expr(e.Args[1]) + ")"
	case Call:
	}
	return row.Name + "(" + p.list(e.Args) + ")"
}

// list formats the arguments of a function.
func (p *printer) list(args []Expr) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = p.expr(a)
	}
	return strings.Join(texts, ", ")
}

// factor formats an operand of an operator. If the operand is itself an operator or a condition,
// factor puts it in parentheses.
func (p *printer) factor(e Expr) string {
	switch e := e.(type) {
	case Apply:
		if row := e.Func.Row(); row != nil && row.Form != Call {
			return "(" + p.expr(e) + ")"
		}
	case Test:
		return "(" + p.expr(e) + ")"
	case Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Agg, Matched, BM25, Nearest, RRF, Holds, Old, KeyOf, Cell, NodeRef, BlockAgg, BlockRows, Member:
	}
	return p.expr(e)
}

// side formats a side of a comparison, or the operand of a test for null. It puts a condition in
// parentheses, so that nested comparisons with different meanings have different texts.
func (p *printer) side(e Expr) string {
	if _, ok := e.(Test); ok {
		return "(" + p.expr(e) + ")"
	}
	return p.expr(e)
}

// holds formats a block, with its clauses, on one line.
func (p *printer) holds(block Clause) string {
	keyword, ok := blockKeyword(block)
	if !ok {
		return p.clause(block)
	}
	return keyword + " { " + p.clauses(Block(block)) + " }"
}

// clauses formats clauses on one line.
func (p *printer) clauses(list []Clause) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = p.holds(c)
	}
	return strings.Join(texts, "; ")
}

// blockAgg formats an aggregate over the matches of a block, with its clauses, on one line.
func (p *printer) blockAgg(e BlockAgg) string {
	text := e.Func.String() + " { " + p.clauses(e.Match)
	if e.Arg != nil {
		text += " return "
		if e.Distinct {
			text += "distinct "
		}
		text += p.expr(e.Arg)
	}
	return text + " }"
}

// blockRows formats a `first` or `collect` block, with its clauses, on one line.
func (p *printer) blockRows(e BlockRows) string {
	columns := make([]string, len(e.Columns))
	for i, c := range e.Columns {
		columns[i] = p.expr(c.Expr) + " as " + c.Name
	}
	text := "collect"
	if e.First {
		text = "first"
	}
	text += " { " + p.clauses(e.Match) + " return { " + strings.Join(columns, ", ") + " }"
	if len(e.Order) > 0 {
		keys := make([]string, len(e.Order))
		for i, o := range e.Order {
			keys[i] = p.expr(o.Expr)
			if o.Desc {
				keys[i] += " desc"
			}
		}
		text += " order { " + strings.Join(keys, ", ") + " }"
	}
	if !e.First {
		text += " limit " + strconv.FormatInt(e.Limit, 10)
	}
	return text + " }"
}

// blockKeyword returns the keyword of a block. It reports false for any other clause.
func blockKeyword(c Clause) (keyword string, ok bool) {
	switch c.(type) {
	case Not:
		return "not", true
	case Exists:
		return "exists", true
	case Any:
		return "any", true
	case All:
		return "all", true
	case Optional:
		return "optional", true
	case Bind, Traverse, Filter:
	}
	return "", false
}
