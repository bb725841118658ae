package text

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/clipperhouse/uax29/v2/words"
)

// maxKnown is the maximum number of spellings that an [Analyzer] caches, about 100 bytes each.
const maxKnown = 1 << 20

// stopped is the number of a word without a token, such as a stop word.
const stopped = -1

// Analyzer numbers the tokens of many texts: each distinct token gets a number, counted from 0, in
// the order of first occurrence. It caches the token of each spelling, so that it stems a word only
// once. Only one goroutine may use it at a time.
type Analyzer struct {
	Tokens []string          // each token, at the index that is its number
	known  map[string]int32  // by spelling: the number of its token, or `stopped`
	number map[string]int32  // by token: its number
	env    *snowballstem.Env // the stemmer
}

// NewAnalyzer returns an analyzer that has seen no text.
func NewAnalyzer() *Analyzer {
	return &Analyzer{known: map[string]int32{}, number: map[string]int32{}, env: snowballstem.NewEnv("")}
}

// Append appends the numbers of the tokens of a text. The tokens are those of [AppendTokens].
func (a *Analyzer) Append(dst []uint32, s string) []uint32 {
	it := words.FromString(s)
	for it.Next() {
		w := it.Value()
		n, ok := a.known[w]
		if !ok {
			n = a.learn(w)
		}
		if n != stopped {
			dst = append(dst, uint32(n))
		}
	}
	return dst
}

// Number returns the number of a token. A new token gets the next number.
func (a *Analyzer) Number(token string) uint32 {
	n, known := a.number[token]
	if !known {
		n = int32(len(a.Tokens))
		token = strings.Clone(token)
		a.Tokens = append(a.Tokens, token)
		a.number[token] = n
	}
	return uint32(n)
}

// Size returns the number of spellings that the analyzer caches.
func (a *Analyzer) Size() int { return len(a.known) }

// learn returns the number of the token of a spelling, and caches it unless the cache is full.
func (a *Analyzer) learn(w string) int32 {
	n := int32(stopped)
	if token, ok := tokenOf(w, a.env); ok {
		n = int32(a.Number(token))
	}
	if len(a.known) < maxKnown {
		a.known[strings.Clone(w)] = n
	}
	return n
}

// tokenOf returns the token for a word, and whether the word has one.
func tokenOf(w string, env *snowballstem.Env) (string, bool) {
	if !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return "", false
	}
	w = strings.ToLower(w)
	if stops[w] {
		return "", false
	}
	env.SetCurrent(w)
	english.Stem(env)
	return env.Current(), true
}
