package social

import (
	"math"
	"math/rand/v2"
	"strings"
)

// vocabulary is the number of distinct words in the texts.
const vocabulary = 5_000

// words are made-up words that every tokenizer leaves unchanged: five lower-case letters, not a
// stop word, and without an ending that an English stemmer removes.
var words = makeWords()

// Word returns the word with the given rank: 0 is the most frequent, 4,999 the rarest.
func Word(rank int) string { return words[rank] }

// makeWords makes the vocabulary: distinct invented words of five letters.
func makeWords() []string {
	const consonants, vowels, finals = "bdfgklmnprtv", "aeiou", "kmbp"
	out := make([]string, 0, vocabulary)
	// 1,013 has no factor in common with the number of possible words. Stepping by it makes
	// frequent words dissimilar and never repeats a word.
	total := len(consonants) * len(vowels) * len(consonants) * len(vowels) * len(finals)
	for i := range vocabulary {
		n := i * 1_013 % total
		var w [5]byte
		for at, letters := range []string{consonants, vowels, consonants, vowels, finals} {
			w[at] = letters[n%len(letters)]
			n /= len(letters)
		}
		out = append(out, string(w[:]))
	}
	return out
}

// capital changes the first letter of a word to upper case.
func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// zipf returns the weights of n ranks under Zipf's law with Mandelbrot's shift.
func zipf(n int, exponent, shift float64) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Pow(float64(i)+shift, -exponent)
	}
	return w
}

// sampler draws numbers with given weights in constant time, by Vose's alias method (IEEE
// Transactions on Software Engineering 17(9), 1991).
type sampler struct {
	keep  []float64 // by index: the probability of returning the index itself
	alias []int32   // by index: the number to return otherwise
}

// newSampler returns a sampler of the indexes of weights.
func newSampler(weights []float64) *sampler {
	n := len(weights)
	s := &sampler{keep: make([]float64, n), alias: make([]int32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	var small, large []int32
	for i, w := range weights {
		s.keep[i], s.alias[i] = w*float64(n)/sum, int32(i)
		if s.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		lo, hi := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		s.alias[lo] = hi
		s.keep[hi] -= 1 - s.keep[lo]
		if s.keep[hi] < 1 {
			large = large[:len(large)-1]
			small = append(small, hi)
		}
	}
	// The remaining weights are 1 except for rounding errors.
	for _, i := range append(small, large...) {
		s.keep[i] = 1
	}
	return s
}

// draw returns a random number with the probability that its weight gives.
func (s *sampler) draw(rng *rand.Rand) int {
	i := rng.IntN(len(s.keep))
	if rng.Float64() < s.keep[i] {
		return i
	}
	return int(s.alias[i])
}
