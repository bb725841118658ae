package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// maxParts bounds the queries of an offer.
const maxParts = 8

// severalNote says how to run the queries of an offer.
const severalNote = "run each query: the tool graph_query takes several in queries"

// RewriteParts returns a query for each part of a text with UNION, of a text with several reads, or of a document of
// GraphQL with several fields. It reports false if the text has one part, or if a part has no counterpart. Like the offer of [Rewrite], the queries may have faults.
func RewriteParts(s *catalog.Schema, text string) (offer Offer, ok bool) {
	tokens, ok := tokensOf(text)
	if !ok {
		return Offer{}, false
	}
	u := unionOf(tokens)
	if parts := fieldParts(tokens); len(parts) > 1 {
		u = union{parts: parts}
	}
	if len(u.parts) < 2 || len(u.parts) > maxParts {
		return Offer{}, false
	}
	offer, ok = rewriteEach(s, u.parts, u.distinct)
	if ok {
		offer.Notes = append(offer.Notes, u.notes...)
	}
	return offer, ok
}

// rewriteEach returns a query for each of several texts, named q1 and so on, as one offer. With distinct, each query
// returns a row once.
func rewriteEach(s *catalog.Schema, parts [][]token, distinct bool) (Offer, bool) {
	out := Offer{Notes: []string{severalNote}}
	var queries []string
	for i, part := range parts {
		r := newRewriter(s, part)
		r.name = "q" + strconv.Itoa(i+1)
		query, ok := r.rewrite(func() {
			if distinct && !slices.ContainsFunc(r.computed, func(c column) bool { return aggregated(c.text) }) {
				r.distinct = true
			}
		})
		if !ok {
			return Offer{}, false
		}
		queries = append(queries, query)
		for _, n := range r.notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
	}
	out.Query, out.Count = strings.Join(queries, " "), len(queries)
	return out, len(out.Query) <= maxQuery
}

// union is a text with several parts.
type union struct {
	parts    [][]token
	distinct bool // UNION without ALL
	notes    []string
}

// unionOf divides a text at the words UNION outside of brackets, or a text of several reads at its semicolons.
func unionOf(text []token) (u union) {
	head, body, tail := wrapped(text)
	var rest []token
	all := true
	depth := 0
	add := func() {
		if len(rest) > 0 {
			u.parts = append(u.parts, rest)
			rest = nil
		}
	}
	for i := 0; i < len(body); i++ {
		t := body[i]
		switch {
		case t.kind == mark && strings.Contains("([{", t.text):
			depth++
		case t.kind == mark && strings.Contains(")]}", t.text):
			depth--
		case depth == 0 && t.are("union"):
			add()
			if i+1 < len(body) && (body[i+1].are("all") || body[i+1].are("distinct")) {
				i++
			}
			all = all && body[i].are("all")
			u.distinct = !all
			continue
		case depth == 0 && t.kind == mark && t.text == ";" && len(head) == 0:
			add()
			continue
		case depth == 0 && t.kind == word && slices.Contains([]string{"intersect", "except", "minus"}, strings.ToLower(t.text)):
			return union{}
		}
		rest = append(rest, t)
	}
	add()
	if len(u.parts) < 2 {
		return union{}
	}
	if u.distinct {
		u.notes = append(u.notes, "a row that several of the queries return counts once in the union")
	}
	u.alignSQL()
	for i, p := range u.parts {
		u.parts[i] = slices.Concat(head, p, tail)
	}
	return u
}

// wrapped divides a text into the head of a query with its opening brace, the body, and the closing brace.
func wrapped(text []token) (head, body, tail []token) {
	if !tokens(text).one([]string{"query"}) || text[len(text)-1].text != "}" {
		return nil, text, nil
	}
	depth := 0
	for i, t := range text {
		switch {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		case t.kind == mark && t.text == "{" && depth == 0:
			return text[:i+1], text[i+1 : len(text)-1], text[len(text)-1:]
		}
	}
	return nil, text, nil
}

// alignSQL gives the columns of all parts of a union of SQL the names of the first part, and each part the order and
// the limit of the whole.
func (u *union) alignSQL() {
	if slices.ContainsFunc(u.parts, func(p []token) bool { return !tokens(p).are("select") && !tokens(p).are("(", "select") }) {
		return
	}
	final := len(u.parts) - 1
	var suffix []token
	u.parts[final], suffix = wholeOrder(u.parts[final])
	for i, p := range u.parts {
		u.parts[i] = inParentheses(p)
	}
	names := columnNames(u.parts[0])
	for i := range u.parts {
		if i > 0 {
			u.parts[i] = withNames(u.parts[i], names)
		}
	}
	if len(suffix) == 0 {
		return
	}
	if slices.Contains(topWords(suffix), "offset") { // no query knows how many rows of the others come before
		u.parts = nil
		return
	}
	order, limit := byPosition(suffix, names)
	switch {
	case order == nil:
		u.notes = append(u.notes, "order the rows of all queries together after you have read them")
		order = limit
		if len(limit) > 0 { // the first rows of an order that the queries do not have
			u.parts = nil
			return
		}
	case len(limit) > 0:
		u.notes = append(u.notes, "the order and the limit hold for each query: merge the rows, order them, and keep the first ones")
	default:
		u.notes = append(u.notes, "the order holds for each query: merge the rows by it")
	}
	for i, p := range u.parts {
		if own, _ := wholeOrder(p); len(own) == len(p) {
			u.parts[i] = slices.Concat(p, order)
		}
	}
}

// wholeOrder divides the last part of a union into its own tokens and ORDER BY and LIMIT, which hold for the union.
func wholeOrder(part []token) (own, suffix []token) {
	depth := 0
	for i, t := range part {
		switch {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		case depth == 0 && i > 0 && tokens(part[i:]).endsRows() && part[i-1].text != ".":
			return part[:i], part[i:]
		}
	}
	return part, nil
}

// inParentheses removes the parentheses around a part.
func inParentheses(part []token) []token {
	if len(part) > 2 && part[0].text == "(" && part[len(part)-1].text == ")" {
		return part[1 : len(part)-1]
	}
	return part
}

// topWords returns the words of a part outside of parentheses, in lower case.
func topWords(part []token) (out []string) {
	depth := 0
	for _, t := range part {
		switch {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		case depth == 0 && t.kind == word:
			out = append(out, strings.ToLower(t.text))
		}
	}
	return out
}

// columnsOf divides the columns of a SELECT. It returns the index of the token after the last one too.
func columnsOf(part []token) (columns [][]token, start, end int) {
	start = 1
	if len(part) > 1 && part[1].are("distinct") {
		start = 2
	}
	depth, from := 0, start
	for i := start; i < len(part); i++ {
		switch t := part[i]; {
		case t.kind == mark && strings.Contains("([", t.text):
			depth++
		case t.kind == mark && strings.Contains(")]", t.text):
			depth--
		case depth == 0 && t.kind == mark && t.text == ",":
			columns, from = append(columns, part[from:i]), i+1
		case depth == 0 && t.are("from"):
			return append(columns, part[from:i]), start, i
		}
	}
	return nil, 0, 0
}

// columnName returns the alias of a column, or the name of the property that it is, or "".
func columnName(column []token) (name string, alias bool) {
	n := len(column)
	if n == 0 || column[n-1].kind != word && column[n-1].kind != text {
		return "", false
	}
	name = column[n-1].text
	switch {
	case n == 1:
		return name, false
	case column[n-2].are("as"):
		return name, true
	case column[n-2].text == "." && n == 3:
		return name, false
	case column[n-2].kind != mark || column[n-2].text == ")":
		return name, !column[n-1].are("end")
	}
	return "", false
}

// columnNames returns the names of the columns of a SELECT.
func columnNames(part []token) (out []string) {
	columns, _, _ := columnsOf(part)
	for _, c := range columns {
		name, _ := columnName(c)
		out = append(out, name)
	}
	return out
}

// withNames gives the columns of a SELECT names, if they have no alias.
func withNames(part []token, names []string) []token {
	columns, start, end := columnsOf(part)
	if len(columns) != len(names) {
		return part
	}
	out := slices.Clone(part[:start])
	for i, c := range columns {
		if i > 0 {
			out = append(out, token{kind: mark, text: ","})
		}
		out = append(out, c...)
		if old, alias := columnName(c); names[i] != "" && !alias && old != names[i] {
			out = append(out, token{kind: word, text: "as", space: true}, token{kind: word, text: names[i], space: true})
		}
	}
	return append(out, part[end:]...)
}

// byPosition divides ORDER BY and LIMIT, and writes the keys of the order as positions of columns. The order is nil if a
// key is no column.
func byPosition(suffix []token, names []string) (order, limit []token) {
	order = []token{}
	rest := suffix
	if tokens(rest).are("order", "by") {
		order, rest = append(order, rest[0], rest[1]), rest[2:]
		for first := true; len(rest) > 0 && !tokens(rest).one([]string{"limit", "offset", "fetch"}); rest = rest[1:] {
			t := rest[0]
			i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, t.text) })
			switch {
			case order == nil:
			case !first || t.kind == number:
				order = append(order, t)
			case i >= 0:
				order = append(order, token{kind: number, text: strconv.Itoa(i + 1), space: true})
			default:
				order = nil
			}
			first = t.text == ","
		}
	}
	if order != nil {
		order = append(order, rest...)
	}
	return order, rest
}
