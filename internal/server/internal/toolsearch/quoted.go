package toolsearch

import "regexp"

var (
	// quoted matches a name between backquotes.
	quoted = regexp.MustCompile("`[^`]+`")
	// identifier matches a word that only a name has: a dot, a slash or an underscore between letters, or an upper-case letter after
	// a lower-case one.
	identifier = regexp.MustCompile(`\pL[./_]\pL|\p{Ll}\p{Lu}`)
)

// withoutNames returns a search without the names between backquotes, whose words say nothing about what to do with what has the
// name. The result `named` says whether the search has the exact name of a thing. A search that is only names stays as it is.
func withoutNames(text string) (rest string, named bool) {
	rest = quoted.ReplaceAllString(text, " ")
	if len(contentWords(rest)) == 0 {
		rest = text
	}
	return rest, rest != text || identifier.MatchString(text)
}
