package toolsearch

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// The strengths of a word of the index that stands for a word of the search.
const (
	sameWord     = 1.0 // the same stem
	synonym      = 0.9 // of the same group of the thesaurus
	misspelt     = 0.6 // a similar spelling
	inflection   = 0.4 // another form of the word, with a different stem
	partOfPhrase = 0.3 // one word of a phrase
)

// term is a word or a phrase of the search.
type term struct {
	forms    map[int32]float64 // the words of the index that can stand for the term, with their strengths
	side     side              // whether it is wanted, or what is wanted belongs to it
	soft     bool              // affects the ranking; an entry must also match a term that is not soft
	negation bool              // a word such as not
}

// softWords are words of a request that say little about the thing that is wanted. Stop words of
// the thesaurus are soft too.
var softWords = tokenSet(`
any can certain current currently display every everything existing find get give given go kind like list look need one
particular please see show some specific tell thing view want way`)

// negations are words that turn a sense around. They are members of one group of the thesaurus.
var negations = tokenSet(`neither never no nobody none not nothing without`)

// tokenSet returns the tokens of words.
func tokenSet(words string) map[string]bool {
	s := map[string]bool{}
	for _, t := range newAnalyzer().tokens(words) {
		s[t.text] = true
	}
	return s
}

// terms returns the terms of a search. If all of them would be soft, none is.
func (v *view) terms(tokens []token) []term {
	var all []term
	side, hard := head, false
	asksWho := len(tokens) > 0 && (tokens[0].text == "who" || tokens[0].text == "what" || tokens[0].text == "which")
	for at := 0; at < len(tokens); {
		word := tokens[at]
		if at > 0 && prepositions[word.text] {
			side = tail
		}
		if phrases := english().phrasesAt(tokens[at:]); len(phrases) > 0 {
			longest := phrases[0]
			t := v.newTerm(strings.Join(longest, " "), side)
			for _, part := range tokens[at : at+len(longest)] {
				if !part.stop {
					v.allow(&t, part.text, partOfPhrase)
				}
			}
			all, hard = append(all, t), true
			at += len(longest)
			continue
		}
		at++
		if word.stop && !english().knows(word.text) {
			continue
		}
		t := v.newTerm(word.text, side)
		t.soft = word.stop || softWords[word.text]
		t.negation = negations[word.text]
		if !word.stop {
			v.allowInflections(&t, word.text)
			v.allowMisspelt(&t, word.text)
			if asksWho { // "who sells" asks for sellers, and so for vendors
				v.allowWord(&t, word.text+"er")
			}
		}
		all, hard = append(all, t), hard || !t.soft
	}
	if !hard {
		for k := range all {
			all[k].soft = false
		}
	}
	return all
}

// newTerm returns a term. The word and its synonyms can stand for the term.
func (v *view) newTerm(word string, side side) term {
	t := term{forms: map[int32]float64{}, side: side}
	v.allowWord(&t, word)
	return t
}

// allowWord lets a word and its synonyms stand for the term. A synonym that says little, such as
// "list" for "register", does not count.
func (v *view) allowWord(t *term, word string) {
	for _, near := range english().near[word] {
		if !softWords[near] {
			v.allow(t, near, synonym)
		}
	}
	v.allow(t, word, sameWord)
}

// allow lets a word stand for the term, if the index has the word.
func (v *view) allow(t *term, word string, strength float64) {
	if n, ok := v.number[word]; ok {
		t.forms[n] = max(t.forms[n], strength)
	}
}

// allowInflections finds the words that look like other forms of the term's word, and lets them
// stand for the term. An example is "departure" and "depart", whose stems differ.
func (v *view) allowInflections(t *term, word string) {
	for n, other := range v.words {
		if alike(word, other) {
			t.forms[int32(n)] = max(t.forms[int32(n)], inflection)
		}
	}
}

// alike reports whether two stems differ only in their endings of at most four bytes. The part that
// they share has at least four bytes if it is one of the stems, and six otherwise.
func alike(a, b string) bool {
	const whole, part, ending = 4, 6, 4
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < whole || len(b)-len(a) > ending || a[:whole] != b[:whole] {
		return false
	}
	same := whole
	for same < len(a) && a[same] == b[same] {
		same++
	}
	return (same == len(a) || same >= part) && len(b)-same <= ending && !strings.Contains(b, " ")
}

// allowMisspelt finds the words that differ from the term's word in one letter, or in two if it has
// at least seven letters. It lets those words stand for the term. A word that a visible entry has,
// or that is in the thesaurus, is not misspelt.
func (v *view) allowMisspelt(t *term, word string) {
	length := utf8.RuneCountInString(word)
	if length < 4 || english().knows(word) {
		return
	}
	if n, ok := v.number[word]; ok && v.has(n) {
		return
	}
	limit := 1
	if length >= 7 {
		limit = 2
	}
	set := letters(word)
	for n, other := range v.words {
		// Replacing one letter of a word changes at most two members of the set.
		if bits.OnesCount64(set^v.letters[n]) <= 2*limit && tokenizer.Within(word, other, limit) {
			t.forms[int32(n)] = max(t.forms[int32(n)], misspelt)
		}
	}
}

// letters returns the set of the letters of a word, as code points modulo 64.
func letters(word string) (set uint64) {
	for _, r := range word {
		set |= 1 << (r & 63)
	}
	return set
}
