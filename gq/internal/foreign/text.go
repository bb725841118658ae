package foreign

import (
	"regexp"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// likePattern reads the pattern after LIKE: a string, or '%' || $part || '%' and the like.
func (r *rewriter) likePattern(left string, anyCase bool) cond {
	if r.peek(0).kind == text && !r.isAt(1, "||", "+") {
		pattern := r.literal()
		refuse(strings.Contains(pattern, `\`) || r.is("escape")) // databases differ in what a backslash means
		return leaf(left + like(pattern, anyCase))
	}
	saved := r.joins
	r.joins = true
	pattern := r.operand()
	r.joins = saved
	head, part, tail := patternParts(pattern)
	if anyCase {
		left = "lower(" + left + ")"
		if !strings.HasPrefix(part, "lower(") {
			part = "lower(" + part + ")"
		}
	}
	if m := whollyParameter.FindStringSubmatch(part); m != nil && !r.bound(m[1]) {
		r.declare(m[1], "String")
	}
	switch {
	case head && tail:
		return leaf(left + " contains " + part)
	case tail:
		return leaf(left + " starts_with " + part)
	}
	panic(giveUp{}) // no operator tests the end of a text, or finds a pattern that a parameter has
}

// whollyParameter matches a parameter, perhaps in lower case.
var whollyParameter = regexp.MustCompile(`^(?:lower\()?\$([A-Za-z_0-9]+)\)?$`)

// percent matches the percent sign before or after a part of a pattern.
const percent = `"%"`

// patternParts splits "%" + part + "%", and reports on which sides any text may stand.
func patternParts(pattern string) (head bool, part string, tail bool) {
	part = pattern
	inner, lowered := strings.CutPrefix(part, "lower(")
	if lowered && strings.HasSuffix(inner, ")") {
		part = strings.TrimSuffix(inner, ")")
	} else {
		lowered = false
	}
	part, head = strings.CutPrefix(part, percent+" + ")
	part, tail = strings.CutSuffix(part, " + "+percent)
	refuse(strings.ContainsAny(part, `%_\`) && strings.Contains(part, `"`))
	if lowered {
		part = "lower(" + part + ")"
	}
	return head, part, tail
}

// arrayOperator reports whether @> or && of PostgreSQL comes next, after a list.
func (r *rewriter) arrayOperator() bool {
	return r.is("@", ">") || r.is("&&", "[") || r.is("&&") && r.inSelect && r.peek(1).kind == dollar
}

// arrayTest reads the operator and the list of tags @> ARRAY['a'] or tags && ARRAY['a', 'b'].
func (r *rewriter) arrayTest(left string, p *catalog.Property) cond {
	op := "any"
	if !r.accept("&&") {
		r.expect("@", ">")
		op = "all"
	}
	refuse(p == nil || !p.Type.List || !r.is("["))
	c := r.containsEach(left, op, p)
	for r.accept("::") {
		r.castTo("")
	}
	if len(c.subs) == 1 {
		return c.subs[0]
	}
	return c
}
