package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// cond is a condition or another clause of a match.
type cond struct {
	op   string // all, any, not or exists; "" for a clause
	text string // the clause
	subs []cond
	null bool  // whether its negation cannot be written, because a null makes neither of them true
	not  *cond // what this is the negation of, if a null makes neither of them true
}

// leaf returns a clause.
func leaf(text string) cond { return cond{text: text} }

// nullTest returns the condition that an expression is null, or that it is not.
func nullTest(e string, null bool) cond {
	if null {
		return leaf(e + " is null")
	}
	return leaf(e + " is not null")
}

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
	defer r.Deeper()()
	c := r.conjunction()
	subs := []cond{c}
	for r.Accept("or") || r.Accept("||") {
		subs = append(subs, r.conjunction())
	}
	if len(subs) == 1 {
		return c
	}
	return cond{op: "any", subs: subs}
}

// asTest reads a condition in a place where an expression may be one by itself.
func (r *rewriter) asTest() cond {
	saved := r.inTest
	r.inTest = true
	c := r.condition()
	r.inTest = saved
	return c
}

// conjunction reads a condition with and, not.
func (r *rewriter) conjunction() cond {
	subs := []cond{r.negation()}
	for r.Accept("and") || r.Accept("&&") {
		subs = append(subs, r.negation())
	}
	if len(subs) == 1 {
		return subs[0]
	}
	return cond{op: "all", subs: subs}
}

// negation reads a condition, perhaps with not before it.
func (r *rewriter) negation() cond {
	defer r.Deeper()()
	if r.Is("not", "{") {
		return r.block()
	}
	if r.Is("no", "{") {
		r.Next()
		return cond{op: "not", subs: r.braced()}
	}
	if r.Accept("not") || r.Accept("!") {
		return r.negated(r.negation())
	}
	return r.test()
}

// opposite maps the relations to those that hold for all other pairs of values. No relation holds for a null.
var opposite = map[string]string{"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// negated returns the negation of a condition. In other languages the negation of a comparison is not true for a null either.
func (r *rewriter) negated(c cond) cond {
	defer r.Deeper()()
	switch {
	case c.not != nil:
		return *c.not
	case c.op == "not":
		return all(c.subs)
	case c.op == "any" || c.op == "all":
		out := cond{op: map[string]string{"any": "all", "all": "any"}[c.op]}
		for _, s := range c.subs {
			out.subs = append(out.subs, r.negated(s))
		}
		return out
	case c.null:
		panic(refuse.GiveUp{})
	case c.op != "":
		return cond{op: "not", subs: []cond{c}}
	}
	f := c.filter()
	if f == nil || f.Optional {
		return cond{op: "not", subs: []cond{c}}
	}
	left := c.text[:exact.EndOffset(f.Left.Source())-len(beforeClause)]
	if f.Null != nil {
		return nullTest(left, f.Null.Not)
	}
	op, right := f.Op.Value, c.text[exact.StartOffset(f.Right.Source())-len(beforeClause):]
	if opposite[op] != "" && (r.inHaving || r.nullable(left) || r.nullable(right)) {
		return leaf(left + " " + opposite[op] + " " + right)
	}
	not := cond{op: "all", not: &c}
	for _, side := range []string{left, right} {
		if r.nullable(side) {
			not.subs = append(not.subs, leaf(side+" is not null"))
		}
	}
	not.subs = append(not.subs, cond{op: "not", subs: []cond{c}})
	if len(not.subs) == 1 {
		return not.subs[0]
	}
	return not
}

// nullable reports whether a side of a comparison may be null.
func (r *rewriter) nullable(e string) bool {
	if p := r.propertyOf(e); p != nil && !p.Type.Nullable && !r.inOptional(e) {
		return false
	}
	if v, end, _ := strings.Cut(e, "."); slices.Contains([]string{"id", "from", "to"}, end) && lex.WordLen(v[min(1, len(v)):]) == len(v)-1 && !r.inOptional(e) {
		return false
	}
	tokens, ok := lex.Scan(e)
	return !ok || slices.ContainsFunc(tokens, func(t lex.Token) bool {
		return t.Kind == lex.Dollar && r.bound(t.Text) || t.Kind == lex.Mark && t.Text == "{"
	})
}

// inOptional reports whether an optional block of the match binds the variable of a property.
func (r *rewriter) inOptional(e string) bool {
	v, _, _ := strings.Cut(e, ".")
	return slices.ContainsFunc(r.match, func(c cond) bool { return c.op == "optional" && mentionsVar(join(c.subs), v) })
}

// block reads a block such as not { … } or exists { MATCH … } as a condition.
func (r *rewriter) block() cond {
	op := strings.ToLower(r.Word())
	return cond{op: op, subs: r.braced()}
}

// braced reads the clauses between braces.
func (r *rewriter) braced() []cond {
	defer r.Deeper()()
	r.Expect("{")
	return r.clauses(func() {
		for !r.Accept("}") {
			r.item()
			// In Cypher a block may have a RETURN, whose values nothing uses.
			if r.Is("return") && r.Peek(1).Kind == lex.Number && r.IsAt(2, "}") {
				r.SkipTwo()
			}
		}
	})
}

// test reads a condition without AND, OR and NOT around it.
func (r *rewriter) test() cond {
	switch {
	case r.Is("exists", "{"), r.Is("any", "{"), r.Is("all", "{"):
		return r.block()
	case r.Is("exists", "(", "select"):
		r.SkipTwo()
		return r.inSelectOf("")
	case r.Is("exists", "("):
		return r.existsTest()
	case r.Is("property_exists", "("): // PROPERTY_EXISTS(p, name) of ISO GQL
		r.Expect("property_exists", "(")
		v := r.variable()
		r.Expect(",")
		c := leaf("$" + naming.Lower(v) + "." + r.PropertyName(r.vars[v], r.Word()) + " is not null")
		r.Expect(")")
		return c
	case r.Is("("):
		if c, ok := r.parenthesizedTest(); ok {
			return c
		}
		// The parenthesis begins a comparison, such as (p.born + 1) > 3.
	case r.Peek(0).Kind == lex.Word && r.IsAt(1, "(") && predicates[strings.ToLower(r.Peek(0).Text)] != "":
		return r.overEdges(r.predicate)
	case r.Is("any", "("), r.Is("none", "("), r.Is("all", "("):
		return r.listMember()
	}
	return r.overEdges(r.comparison)
}

// existsTest reads EXISTS and a pattern or an expression in parentheses.
func (r *rewriter) existsTest() (c cond) {
	r.Expect("exists", "(")
	if !r.try(func() { c = cond{op: "exists", subs: r.patternClauses()} }) { // EXISTS((c)-[:PLACED]->(o))
		c = leaf(r.operand() + " is not null") // EXISTS(p.name)
	}
	r.Expect(")")
	return c
}

// parenthesizedTest reads a pattern such as (p)-[:KNOWS]->(q), a traversal such as ($a knows $b), or a condition in parentheses. It reports
// false, and reads nothing, if the next parenthesis begins none of these.
func (r *rewriter) parenthesizedTest() (c cond, ok bool) {
	if r.try(func() {
		c = cond{op: "exists", subs: r.patternClauses()}
		refuse.If(!strings.Contains(join(c.subs), " ")) // each clause has a space; (p) alone makes none
	}) || r.try(func() { c = r.traversalTest() }) {
		return c, true
	}
	ok = r.try(func() {
		r.Expect("(")
		c = r.condition()
		r.Expect(")")
		refuse.If(r.operator() && !r.Truth() || r.IsOne("+", "-", "*", "/", "%"))
	})
	return c, ok
}

// traversalTest reads ($a knows $b) as a condition.
func (r *rewriter) traversalTest() cond {
	r.Expect("(")
	refuse.If(r.Peek(0).Kind != lex.Dollar || !r.edgeNext())
	c := cond{op: "exists", subs: r.clauses(func() { r.traversal(false) })}
	r.Expect(")")
	return c
}

// predicates maps the functions of other languages that are conditions to operators.
var predicates = map[string]string{"starts_with": "starts_with", "startswith": "starts_with", "ends_with": "ends", "endswith": "ends",
	"contains": "contains", "regexp_like": "matches", "regexp_matches": "matches", "like": "like"}

// predicate reads starts_with(text, part) and the like.
func (r *rewriter) predicate() cond {
	op := predicates[strings.ToLower(r.Word())]
	r.Expect("(")
	left := r.operand()
	r.Expect(",")
	var c cond
	switch op {
	case "like":
		c = leaf(left + like(r.Literal(), false))
	case "ends":
		c = leaf(left + suffix(r.Literal()))
	default:
		c = leaf(left + " " + op + " " + r.fit(r.propertyOf(left), r.operand()))
	}
	r.Expect(")")
	return c
}

// operator reports whether an operator of a comparison comes next.
func (r *rewriter) operator() bool {
	return r.IsOne("=", "==", "<>", "!=", "<", "<=", ">", ">=", "=~", "like", "ilike", "rlike", "regexp", "between", "in", "is", "starts", "ends", "contains", "includes", "starts_with", "startswith", "ends_with", "endswith", "matches") || r.arrayOperator() ||
		r.NotOperator() || (r.Is("~") || r.Is("~", "*")) && (r.Peek(1).Kind == lex.Text || r.Peek(2).Kind == lex.Text)
}

// comparison reads a comparison, or an operand that is a condition by itself.
func (r *rewriter) comparison() cond {
	left := r.operand()
	negated := false
	if r.NotOperator() {
		r.Next()
		negated = true
	}
	c := r.compare(left)
	if negated {
		c = r.negated(c)
	}
	return r.isTrue(c)
}

// isTrue reads IS TRUE, IS NOT FALSE and the like after a condition.
func (r *rewriter) isTrue(c cond) cond {
	for r.Truth() {
		r.Next()
		not := r.Accept("not")
		if r.Accept("true") {
			if not {
				c = cond{op: "not", subs: []cond{c}}
			}
			continue
		}
		r.Expect("false")
		refuse.If(not) // true also for a null
		c = r.negated(c)
	}
	return c
}

// compare reads the operator and the right side of a comparison.
func (r *rewriter) compare(left string) cond {
	t := r.Peek(0)
	op := strings.ToLower(t.Text)
	if t.Kind != lex.Mark && t.Kind != lex.Word {
		op = ""
	}
	p := r.propertyOf(left)
	switch op {
	case "=", "==", "!=", "<>", "<", "<=", ">", ">=":
		r.Next()
		return r.relate(left, p, lex.Relations[op])
	case "contains", "includes", "starts_with", "startswith", "matches":
		r.Next()
		switch op {
		case "startswith":
			op = "starts_with"
		case "includes":
			op = "contains"
		}
		if op == "contains" && (r.Is("any", "[") || r.Is("all", "[")) {
			return r.containsEach(left, strings.ToLower(r.Word()), p)
		}
		return leaf(left + " " + op + " " + r.Optional(r.fit(p, r.operand())))
	case "=~":
		r.Next()
		if r.Peek(0).Kind == lex.Text {
			return leaf(left + " matches " + lex.Quote(whole(r.Next().Text)))
		}
		return leaf(left + " matches " + r.operand())
	case "~", "rlike", "regexp":
		r.Next()
		anyCase := ""
		if op == "~" && r.Accept("*") {
			anyCase = "(?i)"
		}
		return leaf(left + " matches " + lex.Quote(anyCase+r.Literal()))
	case "like", "ilike":
		r.Next()
		return r.likePattern(left, op == "ilike")
	case "@", "&&":
		return r.arrayTest(left, p)
	case "between":
		r.Next()
		low := r.valueOf(p)
		r.Expect("and")
		return cond{op: "all", subs: []cond{leaf(left + " >= " + low), leaf(left + " <= " + r.valueOf(p))}}
	case "in":
		r.Next()
		return r.isIn(left, p)
	case "starts":
		r.Expect("starts", "with")
		return leaf(left + " starts_with " + r.fit(p, r.operand()))
	case "ends", "ends_with", "endswith":
		if r.Next(); op == "ends" {
			r.Expect("with")
		}
		return leaf(left + suffix(r.Literal()))
	case "is":
		if r.Truth() {
			return r.alreadyTrue(left)
		}
		r.Next()
		not := r.Accept("not")
		r.Expect("null")
		return nullTest(left, !not)
	}
	return r.alreadyTrue(left)
}

// alreadyTrue returns an operand as a condition.
func (r *rewriter) alreadyTrue(left string) cond {
	if strings.HasSuffix(left, ")") && searches[left[:max(0, strings.IndexByte(left, '('))]] {
		return leaf(left)
	}
	if strings.HasSuffix(left, "}") || strings.HasSuffix(left, ")") || r.inTest && !r.isBool(left) {
		return leaf(left)
	}
	return leaf(left + " = true")
}

// isBool reports whether an expression is a property of type Bool.
func (r *rewriter) isBool(e string) bool {
	p := r.propertyOf(e)
	return p != nil && p.Type.Kind == value.Bool && !p.Type.List
}

// relate reads the right side of a relation, and of the next one in 1 < $p.price < 5.
func (r *rewriter) relate(left string, p *catalog.Property, op string) cond {
	if (op == "=" || op == "!=") && r.Accept("null") {
		refuse.If(exact.RowsPerEdge(r.Tokens) || r.Tokens[0].Are("delete") || r.Tokens[0].Are("update")) // no comparison with null is true
		return nullTest(left, op == "=")
	}
	if member := r.Is("any", "(") || r.Is("some", "("); op == "=" && member || op == "!=" && r.Is("all", "(") {
		r.SkipTwo()
		c := leaf(left + " in " + r.fitList(p, r.operand()))
		r.Expect(")")
		if member {
			return c
		}
		return r.negated(c)
	}
	right := r.valueOf(p)
	refuse.If(right == "null")
	if strings.HasPrefix(left, "date(") {
		right = dateLiteral(right)
	}
	if r.isEnd(left) {
		right = r.idOf(right)
	} else if r.isEnd(right) {
		left = r.idOf(left)
	}
	if p == nil {
		left = r.fit(r.propertyOf(right), left)
		right = spanOf(left, right)
	}
	c := leaf(left + " " + op + " " + r.Optional(right))
	if p != nil && p.Type.Kind == value.DateTime && op[0] != '=' && op[0] != '!' && strings.HasPrefix(right, "date(") && strings.Contains(right, "now()") {
		// A moment is at or after the beginning of a day if its own day is that day or a later one.
		c = leaf("date(" + left + ") " + map[string]string{">": ">=", ">=": ">=", "<": "<", "<=": "<"}[op] + " " + right)
		if op == ">" || op == "<=" {
			r.note("a moment is compared with a day by its own day")
		}
	}
	if next := lex.Relations[r.Peek(0).Text]; r.Peek(0).Kind == lex.Mark && next != "" && op != "=" && op != "!=" {
		r.Next()
		return cond{op: "all", subs: []cond{c, r.relate(right, r.propertyOf(right), next)}}
	}
	return c
}

// searches are the functions that are conditions.
var searches = map[string]bool{"search": true, "match_text": true, "fuzzy": true}
