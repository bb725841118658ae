// Package toolsearch searches named things by text and returns the best match first.
package toolsearch

import (
	"slices"
	"strings"
	"unicode"
)

// Entry holds the texts by which a thing is found.
type Entry struct {
	Name        string
	Description string
	Params      []string // names of the parameters
}

// Order returns the indexes of the entries that match a text, the best match first. Equal matches
// keep their order. An entry matches if each word of the text matches it.
//
// A match in the name ranks before one in the description, which ranks before one in the
// parameters. Within a field, a match of the whole field ranks first, then a match at its
// beginning, then one at the beginning of a word, then one anywhere. Last rank names, and then
// parameters, that contain the letters of a word in order with other letters in between.
// Descriptions are not searched that way, because long texts match by chance. Case and the
// characters between words do not matter. The empty text matches all entries equally.
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

// The classes of a match of one or more words. A lower class is better.
const (
	exact = iota
	prefix
	wordStart
	substring
	classes
)

// The grade of a match is the field's constant plus the class. Matches of subsequences have grades
// after those of all fields.
const (
	inName = iota * classes
	inDescription
	inParams
	nameSubsequence
	paramSubsequence = nameSubsequence + 1
)

// grade returns the sum of the grades of the words and of the grade of all words as one phrase. So
// words that stand together rank before the same words apart. A lower sum is better; ok is false if
// a word does not match.
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
