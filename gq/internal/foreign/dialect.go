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
	r.selectFirst()
	if !r.isSQL() {
		return
	}
	r.withoutTransaction()
	r.withoutLock()
	if !slices.ContainsFunc(r.tokens, func(t token) bool { return t.are("match") }) { // in (:Person) a colon stands before a label
		r.namedPlaceholders()
	}
	r.numberedPlaceholders()
}

// selectFirst writes FROM … SELECT … as SELECT … FROM ….
func (r *rewriter) selectFirst() {
	from := slices.IndexFunc(r.tokens, func(t token) bool { return t.are("from") })
	if from < 0 || from > 0 && r.tokens[from-1].text != "{" || tokens(r.tokens[from+1:]).at(0).kind != word || tokens(r.tokens[from+1:]).are("match") {
		return
	}
	columns, end := -1, len(r.tokens)
	for i := from; i < len(r.tokens); i++ {
		switch t := r.tokens[i]; {
		case t.kind == mark && t.text == "(":
			return
		case t.are("select") && columns < 0:
			columns = i
		case columns >= 0 && (t.text == "}" || tokens(r.tokens[i:]).one([]string{"where", "group", "order", "limit", "having"})):
			end = min(end, i)
		}
	}
	if columns >= 0 {
		r.tokens = slices.Concat(r.tokens[:from], r.tokens[columns:end], r.tokens[from:columns], r.tokens[end:])
	}
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
	if open < 0 || open > 2 {
		panic(giveUp{})
	}
	rest := r.tokens[open+1:]
	if n := len(rest); n > 0 && rest[n-1].text == ";" {
		rest = rest[:n-1]
	}
	if n := len(rest); n > 0 && rest[n-1].are("commit") {
		rest = rest[:n-1]
	}
	r.tokens, r.at = rest, 0
}

// withoutLock drops FOR UPDATE at the end: a read locks nothing.
func (r *rewriter) withoutLock() {
	n := len(r.tokens)
	if n > 0 && r.tokens[n-1].text == ";" {
		n--
	}
	if n > 3 && r.tokens[n-2].are("for") && (r.tokens[n-1].are("update") || r.tokens[n-1].are("share")) {
		r.note("a read locks nothing: a mutation tests and changes what it finds in one statement")
		r.tokens = r.tokens[:n-2]
	}
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

// numberedPlaceholders gives the parameters $1 and ? names: those of the properties beside them, or p1 and the like.
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
			if len(names) >= maxVars {
				panic(giveUp{})
			}
			name := r.placeholderName(out)
			for _, other := range names {
				if other == name {
					name = ""
				}
			}
			if name == "" {
				name = "p" + strings.ReplaceAll(digits, ".", "_")
			}
			names[digits] = name
			if t.text == "$" {
				r.note("the parameter $" + digits + " is $" + name)
			}
		}
		out = append(out, token{kind: dollar, text: names[digits], space: t.space})
	}
	r.tokens = out
}

// placeholderName returns a name for the parameter after some tokens: that of the property to which the text compares
// or assigns it, or "".
func (r *rewriter) placeholderName(before []token) string {
	name := ""
	for n := len(before); n > 1 && name == ""; n-- {
		switch last := before[n-1]; {
		case relations[last.text] != "" && last.kind == mark && before[n-2].kind == word:
			name = before[n-2].text
		case last.are("like"), last.are("ilike"), last.are("in"):
			if name = before[n-2].text; before[n-2].are("not") && n > 2 {
				name = before[n-3].text
			}
		case last.are("limit"), last.are("offset"):
			name = strings.ToLower(last.text)
		case last.text == "(" && n > 2 && (before[n-2].are("any") || before[n-2].are("in")), last.text == "||" && before[n-2].kind == text, last.kind == text && before[n-2].are("like"), last.kind == text && before[n-2].are("ilike"):
			continue
		case last.text == "(" || last.text == ",":
			name = insertedColumn(before)
		}
		break
	}
	if wordLen(name) != len(name) || slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == dollar && t.text == name }) {
		return ""
	}
	for i, t := range r.tokens { // the name of a table is no name of a parameter
		if t.kind == word && strings.EqualFold(t.text, name) && tokens(r.tokens[i+1:]).are(".") {
			return ""
		}
	}
	return strings.ToLower(name)
}

// insertedColumn returns the column of INSERT INTO t (a, b) VALUES (1, 2) whose value comes after some tokens, or "".
func insertedColumn(before []token) string {
	if !tokens(before).are("insert", "into") || tokens(before).at(3).text != "(" {
		return ""
	}
	depth, place, values := 0, 0, false
	var names []string
	for _, t := range before[3:] {
		switch {
		case t.are("values"):
			values = true
		case t.kind == mark && t.text == "(":
			if depth++; values && depth == 1 {
				place = 0
			}
		case t.kind == mark && t.text == ")":
			depth--
		case t.kind == mark && t.text == "," && depth == 1:
			place++
		case !values && depth == 1 && t.kind == word:
			names = append(names, t.text)
		case t.are("on"), t.are("returning"):
			return ""
		}
	}
	if !values || depth != 1 || place >= len(names) {
		return ""
	}
	return names[place]
}
