package toolsearch

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed synonyms.txt
var synonymsText string

// thesaurus says which words and phrases have the same meaning. Its words and phrases consist of
// tokens. Spaces separate the tokens of a phrase.
type thesaurus struct {
	near    map[string][]string   // the other members of all groups of a word or phrase
	phrases map[string][][]string // the phrases that begin with a token, longest first
}

// english returns the thesaurus of synonyms.txt.
var english = sync.OnceValue(func() *thesaurus {
	t := &thesaurus{map[string][]string{}, map[string][][]string{}}
	a := newAnalyzer()
	for line := range strings.Lines(synonymsText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			t.add(a, strings.Split(line, ","))
		}
	}
	for _, phrases := range t.phrases {
		slices.SortStableFunc(phrases, func(a, b []string) int { return len(b) - len(a) })
	}
	return t
})

// add adds a group. A word that is in several groups has the synonyms of all of them.
func (t *thesaurus) add(a *analyzer, words []string) {
	var group []string
	for _, w := range words {
		var phrase []string
		for _, token := range a.tokens(w) {
			phrase = append(phrase, token.text)
		}
		member := strings.Join(phrase, " ")
		if _, known := t.near[member]; !known {
			t.near[member] = nil // the thesaurus knows the word, even if it gets no synonyms
			if len(phrase) > 1 {
				t.phrases[phrase[0]] = append(t.phrases[phrase[0]], phrase)
			}
		}
		group = append(group, member)
	}
	for _, member := range group {
		for _, other := range group {
			if other != member {
				t.near[member] = append(t.near[member], other)
			}
		}
	}
}

// knows reports whether the thesaurus contains a token as a word. Such a token has a meaning even
// if it is a stop word.
func (t *thesaurus) knows(token string) bool {
	_, ok := t.near[token]
	return ok
}

// phrasesAt returns the phrases at the start of the list `tokens`, the longest first.
func (t *thesaurus) phrasesAt(tokens []token) (found [][]string) {
	for _, p := range t.phrases[tokens[0].text] {
		if startsWith(tokens, p) {
			found = append(found, p)
		}
	}
	return found
}

// startsWith reports whether the tokens begin with the words of a phrase.
func startsWith(tokens []token, phrase []string) bool {
	if len(phrase) > len(tokens) {
		return false
	}
	for i, text := range phrase {
		if tokens[i].text != text {
			return false
		}
	}
	return true
}
