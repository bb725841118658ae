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
		if strings.Contains(pattern, `\`) || r.is("escape") {
			panic(giveUp{}) // databases differ in what a backslash means
		}
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
	if strings.ContainsAny(part, `%_\`) && strings.Contains(part, `"`) {
		panic(giveUp{})
	}
	if lowered {
		part = "lower(" + part + ")"
	}
	return head, part, tail
}

// foundAt reads the arguments of POSITION(part IN text) or STRPOS(text, part), as a condition that the text has the
// part.
func (r *rewriter) foundAt(name string) cond {
	r.expect("(")
	first := r.operand()
	if name == "position" {
		r.expect("in")
	} else {
		r.expect(",")
	}
	second := r.operand()
	r.expect(")", ">")
	if r.next().text != "0" {
		panic(giveUp{})
	}
	if name == "position" {
		first, second = second, first
	}
	return leaf(first + " contains " + r.fit(r.propertyOf(first), second))
}

// arrayOperator reports whether @> or && of PostgreSQL comes next, after a list.
func (r *rewriter) arrayOperator() bool {
	return r.is("@", ">") || r.is("@", "@") || r.is("&&", "[") || r.is("&&") && r.inSelect && r.peek(1).kind == dollar
}

// arrayTest reads the operator and the list of tags @> ARRAY['a'] or tags && ARRAY['a', 'b'].
func (r *rewriter) arrayTest(left string, p *catalog.Property) cond {
	if r.is("@", "@") {
		return r.searchTest(left)
	}
	op := "any"
	if !r.accept("&&") {
		r.expect("@", ">")
		op = "all"
	}
	if p == nil || !p.Type.List || !r.is("[") {
		panic(giveUp{})
	}
	c := r.containsEach(left, op, p)
	for r.accept("::") {
		r.castTo("")
	}
	if len(c.subs) == 1 {
		return c.subs[0]
	}
	return c
}

// distinctTest reads DISTINCT FROM after IS or IS NOT: two nulls are equal.
func (r *rewriter) distinctTest(left string, p *catalog.Property) cond {
	same := r.accept("not")
	r.expect("distinct", "from")
	if r.accept("null") {
		if same {
			return leaf(left + " is null")
		}
		return leaf(left + " is not null")
	}
	right := r.valueOf(p)
	equal := leaf(left + " = " + right)
	if r.propertyOf(right) != nil || strings.HasPrefix(right, "$") {
		equal = cond{op: "any", subs: []cond{equal, {op: "all", subs: []cond{leaf(left + " is null"), leaf(right + " is null")}}}}
	}
	if same {
		return equal
	}
	return cond{op: "not", subs: []cond{equal}}
}

// dayOfNow returns the day of a moment that is now() or some days before or after it.
func dayOfNow(e string) (day string, ok bool) {
	rest, ok := strings.CutPrefix(e, "now()")
	if !ok || rest != "" && !daysLater.MatchString(rest) {
		return "", false
	}
	return "date(now())" + rest, true
}

// daysLater matches a number of days that is added or subtracted.
var daysLater = regexp.MustCompile(`^ [+-] days\([^()]*\)$`)

// searchCall reads a call of the full-text search of PostgreSQL after the opening parenthesis. Of the calls that make a vector or a
// query of words, only the text counts.
func (r *rewriter) searchCall(name string) (out string, ok bool) {
	switch name {
	case "to_tsvector", "plainto_tsquery", "websearch_to_tsquery", "phraseto_tsquery":
		args := r.callArguments(false)
		if len(args) == 0 || len(args) > 2 {
			panic(giveUp{})
		}
		if name != "to_tsvector" {
			r.declareText(last(args))
		}
		return last(args), true
	case "ts_rank", "ts_rank_cd":
		args := r.callArguments(false)
		if len(args) != 2 {
			panic(giveUp{})
		}
		return "bm25(" + args[0] + ", " + args[1] + ")", true
	}
	return "", false
}

// searchTest reads the query of words after @@.
func (r *rewriter) searchTest(left string) cond {
	r.expect("@", "@")
	function := "search("
	switch {
	case r.is("phraseto_tsquery"):
		function = "match_text("
	case !r.is("plainto_tsquery") && !r.is("websearch_to_tsquery"):
		panic(giveUp{})
	default:
		r.note("search finds the texts with any of the words")
	}
	return leaf(function + left + ", " + r.operand() + ")")
}
