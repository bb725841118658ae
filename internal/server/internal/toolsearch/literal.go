package toolsearch

import (
	"slices"
	"strings"
	"unicode"
)

// folded holds the texts of an entry in the form of [fold], for matches by letters.
type folded struct {
	name, description string   // the folded texts
	params            []string // the folded names of the parameters
}

// The classes of a match of one or more words by letters. A lower class is better.
const (
	exact     = iota // the words are the whole text
	prefix           // the text begins with the words
	wordStart        // a word of the text begins with the words
	substring        // the words occur elsewhere
	classes          // number of classes
)

// The grade of a match by letters is the field's constant plus the class. Matches of subsequences
// have greater grades than the other matches in any field. Descriptions are not searched for
// subsequences, because long texts contain them by chance.
const (
	inName           = iota * classes      // the name contains the words
	inDescription                          // the description contains the words
	inParams                               // the name of a parameter contains the words
	nameSubsequence                        // the name has the letters in this order
	paramSubsequence = nameSubsequence + 1 // the name of a parameter has the letters in this order
)

// grade returns how well the letters of the words occur in an entry. The sum adds the grades of the
// words and the grade of all words as one phrase. So an entry with the words next to each other
// ranks before an entry with the words apart. A lower sum is better. The result `ok` is false if a
// word does not match.
func (e *folded) grade(words []string) (sum int, ok bool) {
	if len(words) == 0 {
		return 0, false
	}
	for _, w := range words {
		g, ok := e.gradeWord(w)
		if !ok {
			return 0, false
		}
		sum += g
	}
	if len(words) > 1 {
		g, ok := e.gradeWord(strings.Join(words, " "))
		if !ok {
			g = paramSubsequence + 1
		}
		sum += g
	}
	return sum, true
}

// gradeWord returns the grade of one word or phrase in an entry.
func (e *folded) gradeWord(w string) (int, bool) {
	if c, ok := class(w, e.name); ok {
		return inName + c, true
	}
	if c, ok := class(w, e.description); ok {
		return inDescription + c, true
	}
	best, found := 0, false
	for _, p := range e.params {
		if c, ok := class(w, p); ok && (!found || c < best) {
			best, found = c, true
		}
	}
	if found {
		return inParams + best, true
	}
	if subsequence(w, e.name) {
		return nameSubsequence, true
	}
	if slices.ContainsFunc(e.params, func(p string) bool { return subsequence(w, p) }) {
		return paramSubsequence, true
	}
	return 0, false
}

// class returns the class of the match of w in a text.
func class(w, text string) (int, bool) {
	at := strings.Index(text, w)
	switch {
	case at < 0:
		return 0, false
	case len(text) == len(w):
		return exact, true
	case at == 0:
		return prefix, true
	case strings.Contains(text, " "+w):
		return wordStart, true
	}
	return substring, true
}

// subsequence reports whether text contains the letters of w in order.
func subsequence(w, text string) bool {
	rest := text
	for _, r := range w {
		at := strings.IndexRune(rest, r)
		if at < 0 {
			return false
		}
		rest = rest[at+len(string(r)):]
	}
	return true
}

// fold returns the words of a text in lower case, separated by single spaces. An upper-case letter
// after a lower-case one begins a word.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space, small := false, false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			space, small = true, false
			continue
		}
		if (space || small && unicode.IsUpper(r)) && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space, small = false, unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
