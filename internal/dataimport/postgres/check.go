package postgres

import (
	"regexp"
	"strings"
)

var (
	// cast matches a cast in an expression that PostgreSQL prints, such as ::character varying(10) or ::text[].
	cast = regexp.MustCompile(`::(?:[a-z_][\w.]*|"[^"]+")(?: (?:varying|precision|with(?:out)? time zone))*(?:\([\d,]+\))?(?:\[\])*`)
	// quotedText matches a text of SQL.
	quotedText = regexp.MustCompile(`'(?:[^']|'')*'`)
	// comparison matches a comparison of a column with a number.
	comparison = regexp.MustCompile(`^("[^"]+"|\w+) (>=|>|<=|<) '?(-?\d+(?:\.\d+)?)'?$`)
	// anyOf matches the comparison of a column with a list, as PostgreSQL prints IN.
	anyOf = regexp.MustCompile(`^("[^"]+"|\w+) = ANY ARRAY\[(.*)\]$`)
)

// parseCheck reads the condition of a CHECK constraint on one column, as PostgreSQL prints it: a list of texts, or bounds of a
// number. It reports false for every other condition.
func parseCheck(column, expression string) (texts []string, b *bounds, ok bool) {
	// Texts are taken out first, because they may contain anything.
	var kept []string
	plain := quotedText.ReplaceAllStringFunc(expression, func(s string) string {
		kept = append(kept, strings.ReplaceAll(s[1:len(s)-1], "''", "'"))
		return "'" + strings.Repeat("#", len(kept)) + "'"
	})
	plain = cast.ReplaceAllString(plain, "")
	plain = strings.NewReplacer("(", "", ")", "").Replace(plain)
	isColumn := func(name string) bool {
		name = strings.Trim(name, `"`)
		return name == column || name == "VALUE"
	}
	if m := anyOf.FindStringSubmatch(plain); m != nil && isColumn(m[1]) {
		for part := range strings.SplitSeq(m[2], ", ") {
			n := strings.Count(part, "#")
			if n == 0 || part != "'"+strings.Repeat("#", n)+"'" {
				return nil, nil, false
			}
			texts = append(texts, kept[n-1])
		}
		return texts, nil, true
	}
	for i, text := range kept { // negative numbers are texts with a cast
		plain = strings.Replace(plain, "'"+strings.Repeat("#", i+1)+"'", "'"+text+"'", 1)
	}
	b = &bounds{}
	for part := range strings.SplitSeq(plain, " AND ") {
		m := comparison.FindStringSubmatch(part)
		if m == nil || !isColumn(m[1]) {
			return nil, nil, false
		}
		switch m[2] {
		case ">", ">=":
			if b.least != "" {
				return nil, nil, false
			}
			b.least, b.above = m[3], m[2] == ">"
		default:
			if b.most != "" {
				return nil, nil, false
			}
			b.most, b.below = m[3], m[2] == "<"
		}
	}
	return nil, b, true
}
