package foreign

import (
	"regexp"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// likePattern reads the pattern after LIKE: a string, or '%' || $part || '%' and the like.
func (r *rewriter) likePattern(left string, ignoreCase bool) cond {
	if r.Peek(0).Kind == lex.Text && !r.IsAt(1, "||", "+") {
		pattern := r.Literal()
		refuse.If(strings.Contains(pattern, `\`) || r.Is("escape")) // databases differ in what a backslash means
		return leaf(left + like(pattern, ignoreCase))
	}
	saved := r.joins
	r.joins = true
	pattern := r.operand()
	r.joins = saved
	head, part, tail := patternParts(pattern)
	if ignoreCase {
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
	panic(refuse.GiveUp{}) // no operator tests the end of a text, or finds a pattern that a parameter has
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
	refuse.If(strings.ContainsAny(part, `%_\`) && strings.Contains(part, `"`))
	if lowered {
		part = "lower(" + part + ")"
	}
	return head, part, tail
}

// arrayOperator reports whether @> or && of PostgreSQL comes next, after a list.
func (r *rewriter) arrayOperator() bool {
	return r.Is("@", ">") || r.Is("&&", "[") || r.Is("&&") && r.inSelect && r.Peek(1).Kind == lex.Dollar
}

// arrayTest reads the operator and the list of tags @> ARRAY['a'] or tags && ARRAY['a', 'b'].
func (r *rewriter) arrayTest(left string, p *catalog.Property) cond {
	op := "any"
	if !r.Accept("&&") {
		r.Expect("@", ">")
		op = "all"
	}
	refuse.If(p == nil || !p.Type.List || !r.Is("["))
	c := r.containsEach(left, op, p)
	for r.Accept("::") {
		r.castTo("")
	}
	if len(c.subs) == 1 {
		return c.subs[0]
	}
	return c
}

// caseInsensitive maps the operators of GraphQL servers that ignore the case of a text to the parts of a regular expression
// before and after the text.
var caseInsensitive = map[string][2]string{
	"eqi": {"^", "$"}, "equalsinsensitive": {"^", "$"},
	"containsi": {}, "icontains": {}, "includesinsensitive": {},
	"startswithi": {"^", ""}, "istartswith": {"^", ""},
	"endswithi": {"", "$"}, "iendswith": {"", "$"},
}

// suffix returns the operator and the operand for texts that end with a part.
func suffix(part string) string { return " matches " + lex.Quote(regexp.QuoteMeta(part)+"$") }

// like returns the operator and the operand for a pattern of LIKE, in which % stands for any text and
// _ for any character.
func like(pattern string, ignoreCase bool) string {
	inner := strings.Trim(pattern, "%")
	head, tail := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%")
	if !ignoreCase && !strings.ContainsAny(inner, `%_\`) {
		switch {
		case head && tail:
			return " contains " + lex.Quote(inner)
		case tail:
			return " starts_with " + lex.Quote(inner)
		case !head:
			return " = " + lex.Quote(inner)
		}
	}
	var b strings.Builder
	switch many := strings.Contains(inner, "%") || strings.Contains(inner, "_"); {
	case ignoreCase && many:
		b.WriteString("(?is)")
	case ignoreCase:
		b.WriteString("(?i)")
	case many:
		b.WriteString("(?s)") // so that . is any character
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
	return " matches " + lex.Quote(b.String())
}

// whole returns a regular expression that matches in a part of a text exactly if the pattern matches
// the whole text.
func whole(pattern string) string {
	if strings.Contains(pattern, "|") {
		return "^(?:" + pattern + ")$"
	}
	flags := ""
	if rest, ok := strings.CutPrefix(pattern, "(?i)"); ok {
		flags, pattern = "(?i)", rest
	}
	if !strings.HasPrefix(pattern, "^") {
		pattern = "^" + pattern
	}
	pattern = flags + pattern
	if !strings.HasSuffix(pattern, "$") {
		pattern += "$"
	}
	return pattern
}
