package tokenizer

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

// Version is the number of the analyzer. Stored indexes carry it. Raise it with every change of the
// tokens that this package finds in some text; TestVersion fails after such a change.
const Version = 2

// Written is the byte before a word as written among the tokens of an [Analyzer]. No stem begins with
// it.
const Written = "\x00"

// Analyzer numbers the tokens of many texts: each distinct token gets a number, counted from 0, in
// the order of first occurrence. It caches the tokens of each spelling, so that it stems a word only
// once. Only one goroutine may use it at a time.
type Analyzer struct {
	// Tokens has each token at the index that is its number: the stem of a word, or [Written] and the
	// folded word if it differs from its stem.
	Tokens []string
	known  map[string]numbers // by spelling
	number map[string]int32   // by token: its number
	env    *snowballstem.Env  // the stemmer
}

// numbers are the numbers of the tokens of a spelling.
type numbers struct {
	stem    int32 // or `stopped`
	written int32 // or `stopped` if the word is its stem
}

// NewAnalyzer returns an analyzer that has seen no text.
func NewAnalyzer() *Analyzer {
	return &Analyzer{known: map[string]numbers{}, number: map[string]int32{}, env: snowballstem.NewEnv("")}
}

// Append appends the numbers of the tokens of a text. The tokens are those of [AppendTokens].
func (a *Analyzer) Append(dst []uint32, s string) []uint32 {
	dst, _ = a.AppendBoth(dst, nil, s)
	return dst
}

// AppendBoth is like Append, and appends to written the numbers of the words as written that differ
// from their stems.
func (a *Analyzer) AppendBoth(stems, written []uint32, s string) (_, _ []uint32) {
	it := words.FromString(segmented(s))
	for it.Next() {
		w := it.Value()
		n, ok := a.known[w]
		if !ok {
			n = a.learn(w)
		}
		if n.stem != stopped {
			stems = append(stems, uint32(n.stem))
		}
		if n.written != stopped {
			written = append(written, uint32(n.written))
		}
	}
	return stems, written
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

// learn returns the numbers of a spelling, and caches them unless the cache is full.
func (a *Analyzer) learn(w string) numbers {
	n := numbers{stopped, stopped}
	if stem, written, ok := tokensOf(w, a.env); ok {
		n.stem = int32(a.Number(stem))
		if written != stem {
			n.written = int32(a.Number(Written + written))
		}
	}
	if len(a.known) < maxKnown {
		a.known[strings.Clone(w)] = n
	}
	return n
}

// tokensOf returns the stem of a word and the folded word, and whether the word has tokens.
func tokensOf(w string, env *snowballstem.Env) (stem, written string, ok bool) {
	if !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return "", "", false
	}
	written, marked := fold(w)
	if written == "" || stops[written] && !marked { // "thé" is no stop word
		return "", "", false
	}
	env.SetCurrent(written)
	english.Stem(env)
	return env.Current(), written, true
}
