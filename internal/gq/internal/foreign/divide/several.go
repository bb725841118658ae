// Package divide divides texts of SQL and GraphQL into parts, each of which becomes a query: those of a union, several statements,
// and the fields of a document.
package divide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
)

// Union is a text with several parts.
type Union struct {
	Parts    [][]lex.Token
	Distinct bool // UNION without ALL
	Notes    []string
}

// UnionOf divides a text at the words UNION outside of brackets, or a text of several reads at its semicolons.
func UnionOf(text []lex.Token) (u Union) {
	head, body, tail := wrapped(text)
	start := 0 // of the part
	add := func(end, next int) {
		if end > start {
			u.Parts = append(u.Parts, body[start:end])
		}
		start = next
	}
	for i, t := range lex.Tokens(body).Outside() {
		switch rest := lex.Tokens(body[i:]); {
		case t.Are("union"):
			u.Distinct = u.Distinct || !rest.Are("union", "all")
			next := i + 1
			if rest.One([]string{"union"}, "all", "distinct") {
				next++
			}
			add(i, next)
		case t.Kind == lex.Mark && t.Text == ";" && len(head) == 0:
			add(i, i+1)
		case rest.One([]string{"intersect", "except", "minus"}):
			return Union{}
		}
	}
	add(len(body), 0)
	if len(u.Parts) < 2 {
		return Union{}
	}
	if u.Distinct {
		u.Notes = append(u.Notes, "a row that several of the queries return counts once in the union")
	}
	u.alignSQL()
	for i, p := range u.Parts {
		u.Parts[i] = slices.Concat(head, p, tail)
	}
	return u
}

// wrapped divides a text into the head of a query with its opening brace, the body, and the closing brace.
func wrapped(text []lex.Token) (head, body, tail []lex.Token) {
	if !lex.Tokens(text).One([]string{"query"}) || text[len(text)-1].Text != "}" {
		return nil, text, nil
	}
	for i, t := range lex.Tokens(text).Outside() {
		if t.Kind == lex.Mark && t.Text == "{" {
			return text[:i+1], text[i+1 : len(text)-1], text[len(text)-1:]
		}
	}
	return nil, text, nil
}

// alignSQL gives the columns of all parts of a union of SQL the names of the first part, and each part the order and
// the limit of the whole.
func (u *Union) alignSQL() {
	if slices.ContainsFunc(u.Parts, func(p []lex.Token) bool { return !lex.Tokens(p).Are("select") && !lex.Tokens(p).Are("(", "select") }) {
		return
	}
	final := len(u.Parts) - 1
	var suffix []lex.Token
	u.Parts[final], suffix = wholeOrder(u.Parts[final])
	for i, p := range u.Parts {
		u.Parts[i] = inParentheses(p)
	}
	names := columnNames(u.Parts[0])
	for i := range u.Parts {
		if i > 0 {
			u.Parts[i] = withNames(u.Parts[i], names)
		}
	}
	if len(suffix) == 0 {
		return
	}
	if hasOffset(suffix) { // no query knows how many rows of the others come before
		u.Parts = nil
		return
	}
	order, limit := byPosition(suffix, names)
	switch {
	case order == nil:
		u.Parts = nil
		return
	case len(limit) > 0:
		u.Notes = append(u.Notes, "the order and the limit hold for each query: merge the rows, order them, and keep the first ones")
	default:
		u.Notes = append(u.Notes, "the order holds for each query: merge the rows by it")
	}
	for i, p := range u.Parts {
		if own, _ := wholeOrder(p); len(own) == len(p) {
			u.Parts[i] = slices.Concat(p, order)
		}
	}
}

// wholeOrder divides the last part of a union into its own tokens and ORDER BY and LIMIT, which hold for the union.
func wholeOrder(part []lex.Token) (own, suffix []lex.Token) {
	for i := range lex.Tokens(part).Outside() {
		if i > 0 && lex.Tokens(part[i:]).EndsRows() && part[i-1].Text != "." {
			return part[:i], part[i:]
		}
	}
	return part, nil
}

// hasOffset reports whether a part leaves out rows.
func hasOffset(part []lex.Token) bool {
	for _, t := range lex.Tokens(part).Outside() {
		if t.Are("offset") {
			return true
		}
	}
	return false
}

// inParentheses removes the parentheses around a part.
func inParentheses(part []lex.Token) []lex.Token {
	if len(part) > 2 && part[0].Text == "(" && part[len(part)-1].Text == ")" {
		return part[1 : len(part)-1]
	}
	return part
}

// columnsOf divides the columns of a SELECT. It returns the index of the token after the last one too.
func columnsOf(part []lex.Token) (columns [][]lex.Token, start, end int) {
	start = 1
	if len(part) > 1 && part[1].Are("distinct") {
		start = 2
	}
	from := start
	for i, t := range lex.Tokens(part).Outside() {
		switch {
		case t.Kind == lex.Mark && t.Text == ",":
			columns, from = append(columns, part[from:i]), i+1
		case t.Are("from"):
			return append(columns, part[from:i]), start, i
		}
	}
	return nil, 0, 0
}

// columnName returns the alias of a column, or the name of the property that it is, or "".
func columnName(column []lex.Token) (name string, alias bool) {
	n := len(column)
	if n == 0 || column[n-1].Kind != lex.Word && column[n-1].Kind != lex.Text {
		return "", false
	}
	name = column[n-1].Text
	switch {
	case n == 1:
		return name, false
	case column[n-2].Are("as"):
		return name, true
	case column[n-2].Text == "." && n == 3:
		return name, false
	case column[n-2].Kind != lex.Mark || column[n-2].Text == ")":
		return name, !column[n-1].Are("end")
	}
	return "", false
}

// columnNames returns the names of the columns of a SELECT.
func columnNames(part []lex.Token) (out []string) {
	columns, _, _ := columnsOf(part)
	for _, c := range columns {
		name, _ := columnName(c)
		out = append(out, name)
	}
	return out
}

// withNames gives the columns of a SELECT names, if they have no alias.
func withNames(part []lex.Token, names []string) []lex.Token {
	columns, start, end := columnsOf(part)
	if len(columns) != len(names) {
		return part
	}
	out := slices.Clone(part[:start])
	for i, c := range columns {
		if i > 0 {
			out = append(out, lex.Token{Kind: lex.Mark, Text: ","})
		}
		out = append(out, c...)
		if old, alias := columnName(c); names[i] != "" && !alias && old != names[i] {
			out = append(out, lex.Token{Kind: lex.Word, Text: "as", Space: true}, lex.Token{Kind: lex.Word, Text: names[i], Space: true})
		}
	}
	return append(out, part[end:]...)
}

// byPosition divides ORDER BY and LIMIT, and writes the keys of the order as positions of columns. The order is nil if a
// key is no column.
func byPosition(suffix []lex.Token, names []string) (order, limit []lex.Token) {
	order = []lex.Token{}
	rest := suffix
	if lex.Tokens(rest).Are("order", "by") {
		order, rest = append(order, rest[0], rest[1]), rest[2:]
		for first := true; len(rest) > 0 && !lex.Tokens(rest).One([]string{"limit", "offset", "fetch"}); rest = rest[1:] {
			t := rest[0]
			i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, t.Text) })
			switch {
			case order == nil:
			case !first || t.Kind == lex.Number:
				order = append(order, t)
			case i >= 0:
				order = append(order, lex.Token{Kind: lex.Number, Text: strconv.Itoa(i + 1), Space: true})
			default:
				order = nil
			}
			first = t.Text == ","
		}
	}
	if order != nil {
		order = append(order, rest...)
	}
	return order, rest
}
