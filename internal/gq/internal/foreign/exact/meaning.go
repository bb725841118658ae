package exact

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// nullOrder says where a limit cuts in SQL.
const nullOrder = "nulls come first in ascending order and last in descending order"

// place says what an expression means in the other language.
type place struct {
	cypher    bool // a sum of nothing is 0
	ungrouped bool // an aggregate takes all rows, of which there may be none
}

// values changes the expressions of a read that mean something else in SQL and Cypher. Both divide integers to an integer,
// so a / b becomes int(a / b). In Cypher a sum of nothing is 0, and nulls are the greatest values.
func (m *multiplicity) values(read *syntax.Read) {
	sql := slices.ContainsFunc(m.Tokens, func(t lex.Token) bool { return t.Are("select") })
	m.optional = optionalVars(read)
	grouped := slices.ContainsFunc(read.Returns, func(p *syntax.Projection) bool {
		return len(CallsOf([]syntax.Operand{p.Expr}, IsAggregate)) == 0
	})
	if first := m.Tokens[0]; grouped && first.Are("select") && !m.Grouped && len(CallsOf(resultsOf(read), IsAggregate)) > 0 {
		panic(refuse.GiveUp{}) // without GROUP BY there is one row, even of an empty table
	}
	result := place{cypher: !sql, ungrouped: !grouped}
	for _, p := range read.Returns {
		m.value(p.Expr, nil, result)
		if c, ok := p.Expr.(*syntax.Call); ok && p.Alias == nil && m.sums(c, result) {
			m.edits = append(m.edits, edit{at: EndOffset(p.Range), text: " as sum"})
		}
	}
	for _, o := range read.Order {
		m.value(o.Expr, nil, result)
	}
	read.Walk(func(c syntax.Clause) {
		for _, o := range syntax.Operands(c) {
			m.value(o, nil, place{cypher: !sql})
		}
	}, func(o syntax.Operand) {
		if s, ok := o.(*syntax.Subquery); ok {
			for _, o := range s.Results() {
				m.value(o, nil, place{})
			}
		}
	})
	m.orderNulls(read, sql)
}

// optionalVars returns the variables, with their $, that only optional blocks bind.
func optionalVars(read *syntax.Read) map[string]bool {
	optional, bound := map[string]bool{}, map[string]bool{}
	for _, c := range read.Match {
		if o, ok := c.(*syntax.Optional); ok {
			for _, t := range o.Tokens {
				if strings.HasPrefix(t.Value, "$") && !bound[t.Value] {
					optional[t.Value] = true
				}
			}
			continue
		}
		for _, t := range tokensIn(c) {
			bound[t] = true
		}
	}
	return optional
}

// orderNulls orders nulls as the other language does. Only a limit makes the rows depend on it; without one, the difference
// is in their order.
func (m *multiplicity) orderNulls(read *syntax.Read, sql bool) {
	if read.Limit == nil || slices.ContainsFunc(m.Tokens, func(t lex.Token) bool { return t.Are("nulls") }) {
		return
	}
	for _, o := range read.Order {
		if !m.nullable(o.Expr, read) || nullTested(o.Expr) || m.tested(o.Expr, read) {
			continue
		}
		if sql {
			m.Note(nullOrder)
			continue
		}
		direction := ""
		if o.Dir != nil {
			direction = " " + o.Dir.Value
		}
		m.edits = append(m.edits, edit{at: StartOffset(o.Range), text: "(" + SourceOf(o.Expr) + " is null)" + direction + ", ", opens: true})
	}
}

// tested reports whether a condition of the match excludes a null of a sort key.
func (m *multiplicity) tested(o syntax.Operand, read *syntax.Read) bool {
	if a, ok := o.(*syntax.AliasRef); ok {
		for _, p := range read.Returns {
			if p.Alias != nil && p.Alias.Value == a.Tokens[0].Value {
				o = p.Expr
			}
		}
	}
	return slices.ContainsFunc(read.Match, func(c syntax.Clause) bool {
		f, ok := c.(*syntax.Filter)
		return ok && (f.Null == nil || f.Null.Not) && !f.Optional && SourceOf(f.Left) == SourceOf(o)
	})
}

// nullTested reports whether a sort key is itself a test for null.
func nullTested(o syntax.Operand) bool {
	c, ok := o.(*syntax.Comparison)
	return ok && c.Null != nil
}

// tokensIn returns the variables in a clause.
func tokensIn(c syntax.Clause) (out []string) {
	switch c := c.(type) {
	case *syntax.Binding:
		return []string{c.Var.Value}
	case *syntax.Traversal:
		for _, t := range c.Tokens {
			out = append(out, t.Value)
		}
	}
	return out
}

// StartOffset returns the offset in bytes at which a part of a query begins.
func StartOffset(r syntax.Range) int { return r.Tokens[0].Pos.Offset }

// EndOffset returns the offset in bytes at which a part of a query ends.
func EndOffset(r syntax.Range) int {
	t := r.Tokens[len(r.Tokens)-1]
	return t.Pos.Offset + len(t.Value)
}

// SourceOf writes an operand that the parser has read.
func SourceOf(o syntax.Operand) string {
	var b strings.Builder
	for i, t := range o.Source().Tokens {
		if i > 0 && t.Pos.Offset > EndOffset(syntax.Range{Tokens: o.Source().Tokens[i-1 : i]}) {
			b.WriteByte(' ')
		}
		b.WriteString(t.Value)
	}
	return b.String()
}

// value changes an expression and its parts. The operand around it is nil for none.
func (m *multiplicity) value(o, around syntax.Operand, at place) {
	call, _ := around.(*syntax.Call)
	wrap := func(before, after string) {
		m.edits = append(m.edits, edit{at: StartOffset(o.Source()), text: before, opens: true}, edit{at: EndOffset(o.Source()), text: after})
	}
	for _, p := range syntax.Parts(o) {
		m.value(p, o, at)
	}
	switch o := o.(type) {
	case *syntax.Binary:
		if o.Op.Value == "/" && m.integer(o.Left) && m.integer(o.Right) && (call == nil || call.Name.Value != "int") {
			wrap("int(", ")")
		}
	case *syntax.Call:
		if m.sums(o, at) && (call == nil || call.Name.Value != "coalesce") {
			wrap("coalesce(", ", 0)")
		}
	case *syntax.Comparison:
		refuse.If(o.Null == nil && m.anyNullable(syntax.Parts(o), nil) && (call == nil || call.Name.Value != "if")) // with a null it is null there, and false here
	case *syntax.Subquery:
		if at.cypher && o.Keyword.Value == "sum" && (call == nil || call.Name.Value != "coalesce") {
			wrap("coalesce(", ", 0)")
		}
	}
}

// sums reports whether a call is a sum that may be null.
func (m *multiplicity) sums(c *syntax.Call, at place) bool {
	return at.cypher && c.Name.Value == "sum" && (at.ungrouped || m.anyNullable(c.Args, nil))
}

// integer reports whether SQL and Cypher compute an integer.
func (m *multiplicity) integer(o syntax.Operand) bool {
	switch o := o.(type) {
	case *syntax.Literal:
		return o.Kind == syntax.IntLiteral
	case *syntax.PropRef:
		p := m.Property(m.Types[o.Var.Value[1:]], o.Prop.Value)
		return p != nil && p.Type.Kind.IsInteger() && !p.Type.List || o.Prop.Value == "hops"
	case *syntax.Binary:
		return m.integer(o.Left) && m.integer(o.Right)
	case *syntax.Call:
		switch o.Name.Value {
		case "count", "int", "size", "length", "year", "month", "day", "hour", "weekday", "days_between":
			return true
		case "sum", "min", "max", "abs", "coalesce":
			return !slices.ContainsFunc(o.Args, func(a syntax.Operand) bool { return !m.integer(a) })
		case "if":
			return !slices.ContainsFunc(o.Args[1:], func(a syntax.Operand) bool { return !m.integer(a) })
		}
	case *syntax.Subquery:
		return o.Keyword.Value == "count" || o.Value != nil && slices.Contains([]string{"sum", "min", "max"}, o.Keyword.Value) && m.integer(o.Value)
	case *syntax.VarRef:
		kind, known := value.KindOf(m.Params[o.Tokens[0].Value[1:]])
		return known && kind.IsInteger()
	}
	return false
}

// anyNullable reports whether one of several operands may be null.
func (m *multiplicity) anyNullable(list []syntax.Operand, read *syntax.Read) bool {
	return slices.ContainsFunc(list, func(o syntax.Operand) bool { return m.nullable(o, read) })
}

// nullable reports whether an operand may be null. The aliases are those of a read.
func (m *multiplicity) nullable(o syntax.Operand, read *syntax.Read) bool {
	switch o := o.(type) {
	case *syntax.Literal, *syntax.Now, *syntax.Condition, *syntax.Comparison:
		return false
	case *syntax.PropRef:
		p := m.Property(m.Types[o.Var.Value[1:]], o.Prop.Value)
		return m.optional[o.Var.Value] || p != nil && p.Type.Nullable
	case *syntax.AliasRef:
		if read != nil {
			for _, c := range read.Returns {
				if c.Alias != nil && c.Alias.Value == o.Tokens[0].Value {
					return m.nullable(c.Expr, nil)
				}
			}
		}
		return false
	case *syntax.Call:
		switch o.Name.Value {
		case "count", "collect", "sum":
			return false
		case "coalesce":
			return m.nullable(o.Args[len(o.Args)-1], read)
		case "if":
			return len(o.Args) == 2 || m.anyNullable(o.Args[1:], read)
		}
		return m.anyNullable(o.Args, read)
	case *syntax.Subquery:
		return o.Keyword.Value != "count" && o.Keyword.Value != "collect"
	}
	return m.anyNullable(syntax.Parts(o), read)
}
