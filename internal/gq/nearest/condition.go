package nearest

import (
	"regexp"
	"strings"
)

// cond is a condition or another clause of a match.
type cond struct {
	op   string // all, any, not or exists; "" for a clause
	text string // the clause
	subs []cond
}

// leaf returns a clause.
func leaf(text string) cond { return cond{text: text} }

// render writes a condition. Directly in `any`, several clauses need `all`.
func (c cond) render(inAny bool) string {
	switch c.op {
	case "":
		return c.text
	case "all":
		if inAny && len(c.subs) > 1 {
			return "all { " + join(c.subs) + " }"
		}
		return join(c.subs)
	case "any":
		var out []string
		for _, s := range c.subs {
			out = append(out, s.render(true))
		}
		return "any { " + strings.Join(out, " ") + " }"
	case "not":
		if len(c.subs) == 1 && c.subs[0].op == "exists" {
			return "not { " + join(c.subs[0].subs) + " }"
		}
		if len(c.subs) == 1 && c.subs[0].op == "not" && len(c.subs[0].subs) == 1 {
			return c.subs[0].subs[0].render(inAny)
		}
	}
	return c.op + " { " + join(c.subs) + " }"
}

// join writes clauses one after the other.
func join(list []cond) string {
	var out []string
	for _, c := range list {
		out = append(out, c.render(false))
	}
	return strings.Join(out, " ")
}

// condition reads a condition with or, and, not.
func (r *rewriter) condition() cond {
	defer r.deeper()()
	c := r.conjunction()
	subs := []cond{c}
	for r.accept("or") || r.accept("||") {
		subs = append(subs, r.conjunction())
	}
	if len(subs) == 1 {
		return c
	}
	return cond{op: "any", subs: subs}
}

func (r *rewriter) conjunction() cond {
	subs := []cond{r.negation()}
	for r.accept("and") || r.accept("&&") {
		subs = append(subs, r.negation())
	}
	if len(subs) == 1 {
		return subs[0]
	}
	return cond{op: "all", subs: subs}
}

func (r *rewriter) negation() cond {
	defer r.deeper()()
	if r.is("not", "{") {
		return r.block()
	}
	if r.accept("not") || r.accept("!") {
		return r.negated(r.negation())
	}
	return r.test()
}

// negated returns the negation of a condition. In other languages the negation of a comparison is not
// true for a null either.
func (r *rewriter) negated(c cond) cond {
	not := cond{op: "not", subs: []cond{c}}
	if c.op != "" || !strings.HasPrefix(c.text, "$") || strings.HasSuffix(c.text, " null") {
		return not
	}
	left, _, _ := strings.Cut(c.text, " ")
	variable, name, _ := strings.Cut(left, ".")
	if p := r.property(r.vars[variable[1:]], name); p == nil || !p.Type.Nullable {
		return not
	}
	return cond{op: "all", subs: []cond{leaf(left + " is not null"), not}}
}

// block reads a block such as not { … } or exists { MATCH … } as a condition.
func (r *rewriter) block() cond {
	op := strings.ToLower(r.word())
	return cond{op: op, subs: r.braced()}
}

// braced reads the clauses between braces.
func (r *rewriter) braced() []cond {
	r.expect("{")
	saved := r.match
	r.match = nil
	for !r.accept("}") {
		r.item()
	}
	out := r.match
	r.match = saved
	return out
}

// test reads a condition without an operator of logic around it.
func (r *rewriter) test() cond {
	switch {
	case r.is("exists", "{"), r.is("any", "{"), r.is("all", "{"):
		return r.block()
	case r.is("exists", "(", "select"):
		r.expect("exists", "(")
		c := cond{op: "exists", subs: r.subselect()}
		r.expect(")")
		return c
	case r.is("exists", "("):
		r.expect("exists", "(")
		var c cond
		if !r.try(func() { c = cond{op: "exists", subs: r.patternClauses()} }) {
			c = leaf(r.operand() + " is not null")
		}
		r.expect(")")
		return c
	case r.is("property_exists", "("):
		r.expect("property_exists", "(")
		v := r.variable()
		r.expect(",")
		c := leaf("$" + lower(v) + "." + r.propertyName(r.vars[v], r.word()) + " is not null")
		r.expect(")")
		return c
	case r.is("("):
		var c cond
		if r.try(func() {
			c = cond{op: "exists", subs: r.patternClauses()}
			if !strings.Contains(join(c.subs), " ") {
				panic(giveUp{})
			}
		}) {
			return c
		}
		if r.try(func() {
			r.expect("(")
			c = r.condition()
			r.expect(")")
			if r.operator() || r.isOne("+", "-", "*", "/", "%") {
				panic(giveUp{})
			}
		}) {
			return c
		}
	}
	return r.comparison()
}

// operator reports whether an operator of a comparison comes next.
func (r *rewriter) operator() bool {
	return r.isOne("=", "==", "<>", "!=", "<", "<=", ">", ">=", "=~", "like", "ilike", "between", "in", "is", "starts", "ends", "contains", "starts_with", "matches") || r.is("not", "in") || r.is("not", "like") || r.is("not", "between")
}

// comparison reads a comparison, or an operand that is a condition by itself.
func (r *rewriter) comparison() cond {
	left := r.operand()
	negated := false
	if r.is("not", "in") || r.is("not", "like") || r.is("not", "ilike") || r.is("not", "between") {
		r.next()
		negated = true
	}
	c := r.compare(left)
	if negated {
		return r.negated(c)
	}
	return c
}

// compare reads the operator and the right side of a comparison.
func (r *rewriter) compare(left string) cond {
	t := r.peek(0)
	op := strings.ToLower(t.text)
	if t.kind != mark && t.kind != word {
		op = ""
	}
	switch op {
	case "=", "==", "!=", "<>":
		r.next()
		if r.accept("null") {
			if op == "=" || op == "==" {
				return leaf(left + " is null")
			}
			return leaf(left + " is not null")
		}
		if op == "==" {
			op = "="
		} else if op == "<>" {
			op = "!="
		}
		return leaf(left + " " + op + " " + r.optional(r.operand()))
	case "<", "<=", ">", ">=", "contains", "starts_with", "matches":
		r.next()
		return leaf(left + " " + op + " " + r.optional(r.operand()))
	case "=~":
		r.next()
		if r.peek(0).kind == text {
			return leaf(left + " matches " + quote(whole(r.next().text)))
		}
		return leaf(left + " matches " + r.operand())
	case "like", "ilike":
		r.next()
		if r.peek(0).kind != text {
			panic(giveUp{})
		}
		return leaf(left + like(r.next().text, op == "ilike"))
	case "between":
		r.next()
		low := r.operand()
		r.expect("and")
		return cond{op: "all", subs: []cond{leaf(left + " >= " + low), leaf(left + " <= " + r.operand())}}
	case "in":
		r.next()
		if r.is("(") {
			return leaf(left + " in " + r.list("(", ")"))
		}
		return leaf(left + " in " + r.optional(r.operand()))
	case "starts":
		r.expect("starts", "with")
		return leaf(left + " starts_with " + r.operand())
	case "ends":
		r.expect("ends", "with")
		if r.peek(0).kind != text {
			panic(giveUp{})
		}
		return leaf(left + " matches " + quote(regexp.QuoteMeta(r.next().text)+"$"))
	case "is":
		r.next()
		if r.accept("not", "null") {
			return leaf(left + " is not null")
		}
		r.expect("null")
		return leaf(left + " is null")
	}
	if strings.HasSuffix(left, ")") && searches[left[:max(0, strings.IndexByte(left, '('))]] {
		return leaf(left)
	}
	if strings.HasSuffix(left, "}") || strings.HasSuffix(left, ")") || r.inTest {
		return leaf(left)
	}
	return leaf(left + " = true")
}

// searches are the functions that are conditions.
var searches = map[string]bool{"search": true, "match_text": true, "fuzzy": true}

// optional reads the question mark after a parameter that may drop the condition.
func (r *rewriter) optional(operand string) string {
	if r.accept("?") {
		return operand + "?"
	}
	return operand
}

// like returns the operator and the operand for a pattern of LIKE, in which % stands for any text and
// _ for any character.
func like(pattern string, anyCase bool) string {
	inner := strings.Trim(pattern, "%")
	head, tail := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%")
	if !anyCase && !strings.ContainsAny(inner, `%_\`) {
		switch {
		case head && tail:
			return " contains " + quote(inner)
		case tail:
			return " starts_with " + quote(inner)
		case !head:
			return " = " + quote(inner)
		}
	}
	var b strings.Builder
	if anyCase {
		b.WriteString("(?i)")
	}
	if !head {
		b.WriteByte('^')
	}
	for _, c := range inner {
		switch c {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if !tail {
		b.WriteByte('$')
	}
	return " matches " + quote(b.String())
}

// whole returns a regular expression that matches in a part of a text exactly if the pattern matches
// the whole text.
func whole(pattern string) string {
	if strings.Contains(pattern, "|") {
		return "^(?:" + pattern + ")$"
	}
	if !strings.HasPrefix(pattern, "^") && !strings.HasPrefix(pattern, "(?i)") {
		pattern = "^" + pattern
	}
	if !strings.HasSuffix(pattern, "$") {
		pattern += "$"
	}
	return pattern
}
