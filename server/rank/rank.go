// Package rank finds named things by a text, the best match first.
package rank

import (
	"slices"
	"strings"
	"unicode"
)

// Entry is what a thing is found by.
type Entry struct {
	Name        string
	Description string
	Params      []string // the names of its parameters
}

// Order returns the positions of the entries that match a text, the best first and
// equals in their order. An entry matches when each word of the text does.
//
// The name counts more than the description, and that more than the parameters. In
// each, the whole of it counts most, then its beginning, the beginning of one of its
// words, and any part of it. Last come names, and then parameters, that have the
// letters of a word in its order with others in between: in a description that would
// be chance. Case does not matter, and neither does what stands between words. The
// empty text matches everything alike.
func Order(text string, entries []Entry) []int {
	words := strings.Fields(fold(text))
	all := make([]match, 0, len(entries))
	for i := range entries {
		if g, ok := grade(words, &entries[i]); ok {
			all = append(all, match{i, g})
		}
	}
	slices.SortStableFunc(all, func(a, b match) int { return a.grade - b.grade })
	order := make([]int, len(all))
	for i, m := range all {
		order[i] = m.entry
	}
	return order
}

type match struct{ entry, grade int }

// How a word, or several, matches a text: the less the better.
const (
	exact = iota
	prefix
	wordStart
	substring
	classes
)

// The grades of a field are its number times classes and the class; behind all are
// those of subsequences.
const (
	inName = iota * classes
	inDescription
	inParams
	nameSubsequence
	paramSubsequence = nameSubsequence + 1
)

// grade is the sum of the words' grades, and of the grade of the words as one phrase,
// so that words that stand together come before the same words apart.
func grade(words []string, e *Entry) (sum int, ok bool) {
	if len(words) == 0 {
		return 0, true
	}
	name, description := fold(e.Name), fold(e.Description)
	params := make([]string, len(e.Params))
	for i, p := range e.Params {
		params[i] = fold(p)
	}
	for _, w := range words {
		g, ok := gradeWord(w, name, description, params)
		if !ok {
			return 0, false
		}
		sum += g
	}
	if len(words) > 1 {
		g, ok := gradeWord(strings.Join(words, " "), name, description, params)
		if !ok {
			g = paramSubsequence + 1
		}
		sum += g
	}
	return sum, true
}

func gradeWord(w, name, description string, params []string) (int, bool) {
	if c, ok := class(w, name); ok {
		return inName + c, true
	}
	if c, ok := class(w, description); ok {
		return inDescription + c, true
	}
	best, found := 0, false
	for _, p := range params {
		if c, ok := class(w, p); ok && (!found || c < best) {
			best, found = c, true
		}
	}
	if found {
		return inParams + best, true
	}
	if subsequence(w, name) {
		return nameSubsequence, true
	}
	if slices.ContainsFunc(params, func(p string) bool { return subsequence(w, p) }) {
		return paramSubsequence, true
	}
	return 0, false
}

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

// subsequence reports whether text has the letters of w in its order.
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

// fold returns the words of a text in lower case with a space between any two. A
// capital after a small letter begins a word.
func fold(s string) string {
	var b strings.Builder
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
