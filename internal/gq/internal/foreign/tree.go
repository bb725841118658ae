package foreign

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The texts before and after a clause, and before an operand, in a query that the parser reads.
const (
	beforeClause  = "query q() { match { $_: X } return { 1 as x } having { "
	beforeBinding = "query q() { match { "
	beforeOperand = "query q() { match { $_: X } return { "
)

// parsed reads a query that this package wrote, or returns nil.
func parsed(query string) *syntax.Read {
	file, faults := syntax.ParseQueries("", query)
	if len(faults) > 0 || len(file.Queries) != 1 {
		return nil
	}
	read, _ := file.Queries[0].Body.(*syntax.Read)
	return read
}

// filter returns a clause as a comparison or a test for null, or nil.
func (c cond) filter() *syntax.Filter {
	if c.op != "" {
		return nil
	}
	if read := parsed(beforeClause + c.text + " } }"); read != nil && len(read.Having) == 1 {
		f, _ := read.Having[0].(*syntax.Filter)
		return f
	}
	return nil
}

// pattern returns a clause as a *syntax.Binding or a *syntax.Traversal, or nil.
func (c cond) pattern() syntax.Clause {
	if c.op != "" || !strings.HasPrefix(c.text, "$") {
		return nil
	}
	if read := parsed(beforeBinding + c.text + " } return { 1 as x } }"); read != nil && len(read.Match) == 1 {
		switch p := read.Match[0].(type) {
		case *syntax.Binding, *syntax.Traversal:
			return p
		}
	}
	return nil
}

// binding returns a clause as the binding of a variable, or nil.
func (c cond) binding() *syntax.Binding {
	b, _ := c.pattern().(*syntax.Binding)
	return b
}

// traversal returns a clause as a traversal, or nil.
func (c cond) traversal() *syntax.Traversal {
	t, _ := c.pattern().(*syntax.Traversal)
	return t
}

// equality returns the property and the value of a clause that compares a property of a variable with a value.
func (c cond) equality(v string) (property, value string, ok bool) {
	f := c.filter()
	if f == nil || f.Null != nil || f.Op.Value != "=" {
		return "", "", false
	}
	p, ok := f.Left.(*syntax.PropRef)
	if !ok || p.Var.Value != v {
		return "", "", false
	}
	return p.Prop.Value, strings.TrimSpace(c.text[f.Op.Pos.Offset+1-len(beforeClause):]), true
}

// expression is an operand of this language as text and as a tree.
type expression struct {
	text string
	tree syntax.Operand
}

// operandOf returns an operand as a tree. It gives up if the text is none.
func operandOf(text string) expression {
	read := parsed(beforeOperand + text + " as x } }")
	refuse.If(read == nil || len(read.Returns) != 1)
	return expression{text, read.Returns[0].Expr}
}

// part returns the text of a part of the operand, and where it begins.
func (e expression) part(o syntax.Operand) (text string, at int) {
	at = exact.StartOffset(o.Source()) - len(beforeOperand)
	return e.text[at : exact.EndOffset(o.Source())-len(beforeOperand)], at
}

// aggregate returns the call of an aggregate that the operand is, or nil.
func (e expression) aggregate() *syntax.Call {
	if c, ok := e.tree.(*syntax.Call); ok && exact.IsAggregate(c) {
		return c
	}
	return nil
}
