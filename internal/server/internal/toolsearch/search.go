package toolsearch

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// The constants of the score. They were chosen by trial on testdata/practice.tsv and the tuned rows
// of testdata/phrasings.tsv.
const (
	saturation = 1.0 // the k1 of BM25: a word of this weight in an entry gets half of the maximal score
	softness   = 0.5 // the weight of words that say little about the thing that is wanted
	base       = 0.1 // the share of the score that an entry keeps if it has few words of the search

	// Factors of the whole score.
	agreement   = 1.5 // for reads if the search wants to read, for mutations if it wants a change
	notAsked    = 0.8 // for entries that negate something, such as "without", if the search does not
	noPlace     = 0.3 // for entries that take no name, if the search has the exact name of a thing
	pairBonus   = 0.2 // added per pair of neighbouring words that the entry has close together, for up to 3
	nameBonus   = 0.2 // times the share of the words of the entry's name that the search has
	closeEnough = 3   // the distance in words within which two words are close together
)

// weights gives the weight of a word in each field of an entry. It depends on the side of the
// search that the word is in.
var weights = [sides][fields]float32{
	head: {headField: 3, tailField: 1.5, descriptionField: 0.7, paramField: 0.2, paramDocField: 0.1, columnField: 0.3, questionField: 0.7},
	tail: {headField: 2.4, tailField: 5, descriptionField: 0.5, paramField: 4, paramDocField: 0.2, columnField: 1.2, questionField: 0.5},
}

// Search returns the indexes of the entries that match a text, the best match first. Entries with
// equal matches keep their order. Search considers only the entries in the list `among`, which
// contains ascending indexes. The result is the same as the result of an index that holds only
// these entries. The empty text matches all entries equally.
func (x *Index) Search(text string, among []int) []int {
	text, named := withoutNames(text)
	literal := contentWords(text)
	if len(literal) == 0 {
		return slices.Clone(among)
	}
	scores := x.view(among).scores(text)
	if named {
		for i := range scores {
			if x.entries[i].Nameless {
				scores[i] *= noPlace
			}
		}
	}
	type match struct {
		entry int
		score float64 // 0 if it matches only by letters
		grade int     // the grade of a match by letters
	}
	var found []match
	whole := fold(text)
	for _, i := range among {
		m := match{entry: i, score: scores[i]}
		if x.folded[i].name == whole {
			m.score = math.Inf(1)
		}
		if m.score == 0 {
			g, ok := x.folded[i].grade(literal)
			if !ok {
				continue
			}
			m.grade = g
		}
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.grade-b.grade, a.entry-b.entry)
	})
	order := make([]int, len(found))
	for i, m := range found {
		order[i] = m.entry
	}
	return order
}

// view is the part of an index that a search may use. Its statistics count only visible entries, so
// that a caller cannot learn from a ranking which words the other entries have.
type view struct {
	*Index
	visible []bool // whether the search may see the entry, by number of the entry
	count   int    // number of visible entries
}

// view returns the view for a search among the given entries.
func (x *Index) view(among []int) *view {
	v := &view{x, make([]bool, len(x.entries)), len(among)}
	for _, i := range among {
		v.visible[i] = true
	}
	return v
}

// has reports whether a visible entry has a word.
func (v *view) has(word int32) bool {
	return slices.ContainsFunc(v.postings[word], func(p posting) bool { return v.visible[p.entry] })
}

// scores returns the score of each entry for a text, 0 for entries that do not match.
func (v *view) scores(text string) []float64 {
	tokens := newAnalyzer().tokens(text)
	terms := v.terms(tokens)
	sum, covered, found := make([]float64, len(v.entries)), make([]float64, len(v.entries)), make([]bool, len(v.entries))
	total := 0.0 // the sum of the rarities of the terms
	for k := range terms {
		t := &terms[k]
		scores, rarity := v.termScores(t)
		factor := 1.0
		if t.soft && !t.negation {
			factor = softness
		}
		total += factor * rarity
		for i, s := range scores {
			if s > 0 {
				sum[i] += factor * s
				covered[i] += factor * min(rarity, 2*s)
				found[i] = found[i] || !t.soft
			}
		}
	}
	intent := intentOf(text)
	negates := slices.ContainsFunc(tokens, func(t token) bool { return negations[t.text] })
	for i := range sum {
		if !found[i] {
			sum[i] = 0
			continue
		}
		sum[i] *= base + (1-base)*covered[i]/total
		if v.negated[i] && !negates {
			sum[i] *= notAsked
		}
		if intent != either && v.entries[i].Mutation == (intent == change) {
			sum[i] *= agreement
		}
	}
	v.addBonuses(terms, sum)
	return sum
}

// termScores returns the BM25 score of a term for each entry, and the rarity of the term. All words
// that can stand for the term count together as one word. The term's own word may have a higher
// score alone, because it is rarer than all of them together. Both results are zero if no
// visible entry has such a word.
func (v *view) termScores(t *term) (scores []float64, rarity float64) {
	same, any := make([]float64, len(v.entries)), make([]float64, len(v.entries))
	withSame, withAny := 0, 0
	for word, strength := range t.forms {
		for _, p := range v.postings[word] {
			if !v.visible[p.entry] {
				continue
			}
			score := saturate(p.weight(t.side))
			if any[p.entry] == 0 {
				withAny++
			}
			any[p.entry] = max(any[p.entry], strength*score)
			if strength == sameWord {
				if same[p.entry] == 0 {
					withSame++
				}
				same[p.entry] = max(same[p.entry], score)
			}
		}
	}
	if withAny == 0 {
		return nil, 0
	}
	rarityOfAny, rarityOfSame := v.rarity(withAny), v.rarity(withSame)
	for i := range any {
		any[i] = max(any[i]*rarityOfAny, same[i]*rarityOfSame)
	}
	if withSame == 0 {
		return any, rarityOfAny
	}
	return any, (rarityOfAny + rarityOfSame) / 2
}

// weight returns how much the word counts in the entry for a term on a side of the search.
func (p *posting) weight(side side) float64 {
	sum := float32(0)
	for f, w := range weights[side] {
		sum += w * p.count[f]
	}
	return float64(sum)
}

// saturate maps a weight to the range from 0 to 1, so that repeated words count less and less.
func saturate(weight float64) float64 { return weight / (saturation + weight) }

// rarity returns the inverse document frequency of a word that n visible entries have.
func (v *view) rarity(n int) float64 {
	return math.Log(1 + (float64(v.count)-float64(n)+0.5)/(float64(n)+0.5))
}

// addBonuses raises the scores of two kinds of entries: entries that have neighbouring words of the
// search close together, and entries with a name that consists of words of the search.
func (x *Index) addBonuses(terms []term, scores []float64) {
	termsOf := make([]uint64, len(x.words)) // by word, the set of the terms that the word can stand for
	for k := range terms {
		for word := range terms[k].forms {
			termsOf[word] |= 1 << min(k, 63)
		}
	}
	for i, s := range scores {
		if s == 0 {
			continue
		}
		pairs := bits.OnesCount64(pairs(x.sequence[i], termsOf))
		named := 0
		for _, word := range x.names[i] {
			if termsOf[word] != 0 {
				named++
			}
		}
		scores[i] *= 1 + pairBonus*float64(min(pairs, 3))
		if named > 0 {
			scores[i] *= 1 + nameBonus*float64(named)/float64(len(x.names[i]))
		}
	}
}

// pairs returns a set of terms. The set contains the term k if the sequence has a word for k and a
// word for k+1 close together.
func pairs(sequence []int32, termsOf []uint64) (set uint64) {
	for at, word := range sequence {
		if word < 0 || termsOf[word] == 0 {
			continue
		}
		for _, other := range sequence[at+1 : min(at+1+closeEnough, len(sequence))] {
			if other < 0 {
				break
			}
			if a, b := termsOf[word], termsOf[other]; a != b {
				set |= a&(b>>1) | b&(a>>1)
			}
		}
	}
	return set
}
