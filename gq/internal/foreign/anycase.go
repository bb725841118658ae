package foreign

import (
	"regexp"
	"slices"
	"strings"
)

// anyCase returns the operator and the operand for an operator of GraphQL servers that ignores the case of a text.
func anyCase(op, part string) string {
	pattern := regexp.QuoteMeta(part)
	switch {
	case op == "iregex":
		pattern = part
	case strings.Contains(op, "start"):
		pattern = "^" + pattern
	case strings.Contains(op, "end"):
		pattern += "$"
	case strings.HasPrefix(op, "eq"):
		pattern = "^" + pattern + "$"
	}
	return " matches " + quote("(?i)"+pattern)
}

// ignoreCase replaces { contains: "a", mode: insensitive } of Prisma by { icontains: "a" }.
func (r *rewriter) ignoreCase() {
	names := map[string]string{"contains": "icontains", "equals": "eqi", "startswith": "istartswith", "endswith": "iendswith"}
	t := r.peek(1)
	to := names[plain(t.text)]
	if to == "" || !r.isAt(2, ":") || r.peek(3).kind != text && r.peek(3).kind != dollar {
		return
	}
	i := r.at + 4
	if r.isAt(4, ",") {
		i++
	}
	if mode := tokens(r.tokens[min(i, len(r.tokens)):]); !mode.are("mode", ":", "insensitive", "}") {
		return
	}
	r.tokens = slices.Clone(r.tokens)
	r.tokens[r.at+1].text = to
	r.tokens = slices.Delete(r.tokens, r.at+4, i+3)
}
