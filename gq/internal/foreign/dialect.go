package foreign

import (
	"slices"
	"strconv"
	"strings"
)

// isSQL reports whether the text begins as a statement of SQL.
func (r *rewriter) isSQL() bool {
	start := r.at
	for tokens(r.tokens[start:]).are("(") {
		start++
	}
	return tokens(r.tokens[start:]).one([]string{"select", "update", "with", "begin", "start"}) ||
		tokens(r.tokens[start:]).are("insert", "into") || tokens(r.tokens[start:]).are("delete", "from")
}

// dialect writes the tokens that only SQL has as those of the other languages: its forms of parameters, ARRAY before
// a list, and the statements around a transaction.
func (r *rewriter) dialect() {
	r.withoutArray()
	if !r.isSQL() {
		return
	}
	r.withoutTransaction()
	if !slices.ContainsFunc(r.tokens, func(t token) bool { return t.are("match") }) { // in (:Person) a colon stands before a label
		r.namedPlaceholders()
	}
	r.numberedPlaceholders()
}

// withoutArray drops ARRAY before a list in brackets.
func (r *rewriter) withoutArray() {
	var out []token
	for i, t := range r.tokens {
		if !t.are("array") || !tokens(r.tokens[i+1:]).are("[") {
			out = append(out, t)
		}
	}
	r.tokens = out
}

// withoutTransaction drops BEGIN and COMMIT: the statements of a query are one commit.
func (r *rewriter) withoutTransaction() {
	if !r.isOne("begin", "start") {
		return
	}
	open := slices.IndexFunc(r.tokens, func(t token) bool { return t.text == ";" })
	refuse(open < 0 || open > 2)
	rest := r.tokens[open+1:]
	if n := len(rest); n > 0 && rest[n-1].text == ";" {
		rest = rest[:n-1]
	}
	if n := len(rest); n > 0 && rest[n-1].are("commit") {
		rest = rest[:n-1]
	}
	r.tokens, r.at = rest, 0
}

// namedPlaceholders writes :name, @name and %(name)s as $name.
func (r *rewriter) namedPlaceholders() {
	var out []token
	for i := 0; i < len(r.tokens); i++ {
		t, rest := r.tokens[i], tokens(r.tokens[i+1:])
		before := token{}
		if i > 0 {
			before = r.tokens[i-1]
		}
		switch name := rest.at(0); {
		case t.kind == mark && (t.text == ":" || t.text == "@") && name.kind == word && !name.space && before.kind != dollar && (before.kind == mark || t.space):
			out = append(out, token{kind: dollar, text: name.text, space: t.space})
			i++
		case t.kind == mark && t.text == "%" && rest.are("(") && rest.at(1).kind == word && rest.at(2).text == ")" && rest.at(3).are("s"):
			out = append(out, token{kind: dollar, text: rest.at(1).text, space: t.space})
			i += 4
		default:
			out = append(out, t)
		}
	}
	r.tokens = out
}

// numberedPlaceholders gives the parameters $1 and ? names: p1 and the like.
func (r *rewriter) numberedPlaceholders() {
	names := map[string]string{} // by number
	var out []token
	asked := 0
	for i := 0; i < len(r.tokens); i++ {
		t, rest := r.tokens[i], tokens(r.tokens[i+1:])
		digits := ""
		switch {
		case t.kind == mark && t.text == "$" && rest.at(0).kind == number && !rest.at(0).space:
			digits = rest.at(0).text
			i++
		case t.kind == mark && t.text == "?":
			asked++
			digits = strconv.Itoa(asked)
		default:
			out = append(out, t)
			continue
		}
		if names[digits] == "" {
			refuse(len(names) >= maxVars)
			name := "p" + strings.ReplaceAll(digits, ".", "_")
			names[digits] = name
			if t.text == "$" {
				r.note("the parameter $" + digits + " is $" + name)
			}
		}
		out = append(out, token{kind: dollar, text: names[digits], space: t.space})
	}
	r.tokens = out
}
