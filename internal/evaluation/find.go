package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// The usual parameters of BM25.
const (
	saturation = 1.2  // k1: how soon further occurrences of a term count less
	byLength   = 0.75 // b: how much the length of a text counts
)

// reach is the number of tools of a search that a model looks at.
const reach = 3

// index finds tools by BM25. Its documents are the names and descriptions of the tools.
type index struct {
	counts  []map[string]int // by tool, the number of occurrences of each term
	lengths []int            // by tool, the number of terms
	mean    float64          // of the lengths
	weight  map[string]float64
}

// newIndex returns the index of the tools.
func newIndex(tools []Tool) *index {
	x := &index{weight: map[string]float64{}}
	in := map[string]int{} // the number of tools with the term
	total := 0
	for i := range tools {
		terms := tools[i].terms()
		counts := map[string]int{}
		for _, t := range terms {
			if counts[t]++; counts[t] == 1 {
				in[t]++
			}
		}
		x.counts, x.lengths = append(x.counts, counts), append(x.lengths, len(terms))
		total += len(terms)
	}
	x.mean = float64(total) / float64(max(1, len(tools)))
	for t, n := range in {
		x.weight[t] = math.Log(1 + (float64(len(tools))-float64(n)+0.5)/(float64(n)+0.5))
	}
	return x
}

// score returns the score of a tool for the terms of a question.
func (x *index) score(tool int, terms []string) float64 {
	s := 0.0
	for _, t := range terms {
		n := float64(x.counts[tool][t])
		s += x.weight[t] * n * (saturation + 1) / (n + saturation*(1-byLength+byLength*float64(x.lengths[tool])/x.mean))
	}
	return s
}

// rank returns the place of a tool among all tools for a question, from 1, and the tools before it.
// Other tools with the same score come before it. The rank of a tool that has no word of the question
// is 0.
func (x *index) rank(tool int, question string) (rank int, before []int) {
	terms := tokenizer.AppendTokens(nil, question)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	own := x.score(tool, terms)
	scores := map[int]float64{}
	for i := range x.counts {
		if s := x.score(i, terms); i != tool && s > 0 && s >= own {
			scores[i] = s
			before = append(before, i)
		}
	}
	slices.SortStableFunc(before, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	if own == 0 {
		return 0, before
	}
	return len(before) + 1, before
}

// alike returns the cosine of the angle between the terms of two tools, weighted by their rarity: 1
// for equal texts, 0 for texts without a common term.
func (x *index) alike(a, b int) float64 {
	dot, first, second := 0.0, 0.0, 0.0
	// The order of the sum decides about its last digits, so it must not depend on the map.
	for _, t := range x.sortedTerms(a) {
		w := x.weight[t] * math.Sqrt(float64(x.counts[a][t]))
		first += w * w
		dot += w * x.weight[t] * math.Sqrt(float64(x.counts[b][t]))
	}
	for _, t := range x.sortedTerms(b) {
		w := x.weight[t] * math.Sqrt(float64(x.counts[b][t]))
		second += w * w
	}
	if first == 0 || second == 0 {
		return 0
	}
	return dot / math.Sqrt(first*second)
}

// sortedTerms returns the terms of a tool in order.
func (x *index) sortedTerms(tool int) []string {
	var terms []string
	for t := range x.counts[tool] {
		terms = append(terms, t)
	}
	slices.Sort(terms)
	return terms
}

// minAlike is the least likeness of two tools that the report lists as easily confused.
const minAlike = 0.5

// maxPairs is the maximum number of pairs in a report.
const maxPairs = 10

// Found says which questions find their tools.
type Found struct {
	Questions int `json:"questions"` // number of questions
	Found     int `json:"found"`     // how many of them have their tool among the first three

	// The part of the questions and of the found ones that belongs to stored queries.
	StoredQuestions int `json:"stored_questions"`
	StoredFound     int `json:"stored_found"`

	Missed  []Missed `json:"missed"`  // the other questions
	Without []string `json:"without"` // the stored queries without a question
}

// Missed is a question that does not find its tool.
type Missed struct {
	Tool     string   `json:"tool"`
	Question string   `json:"question"`
	Rank     int      `json:"rank"`             // the place of the tool, from 1; 0 if it has no word of the question
	First    []string `json:"first"`            // the first three tools of the search
	Reason   string   `json:"reason,omitempty"` // set if the question does not count because it has a fault
}

// String returns a line for the report.
func (m Missed) String() string {
	place := "no word of it is in the name or the description"
	if m.Rank > 0 {
		place = fmt.Sprintf("place %d after %s", m.Rank, strings.Join(m.First, ", "))
	}
	if m.Reason != "" {
		place = m.Reason
	}
	return fmt.Sprintf("%s: %q: %s", m.Tool, m.Question, place)
}

// Pair is two tools that are easily confused.
type Pair struct {
	First  string  `json:"first"`
	Second string  `json:"second"`
	Alike  float64 `json:"alike"` // from 0.5 to 1, the likeness of names and descriptions
}

// Search searches for each tool by its questions, and calls no tool.
func Search(tools []Tool) Found {
	f, _ := find(tools)
	return f
}

// find searches for each tool by its questions. It also returns the pairs of tools that are easily
// confused.
func find(tools []Tool) (Found, []Pair) {
	x := newIndex(tools)
	f := Found{Missed: []Missed{}, Without: []string{}}
	for i := range tools {
		t := &tools[i]
		if t.Stored && len(t.Questions) == 0 {
			f.Without = append(f.Without, t.Name)
		}
		for _, q := range t.Questions {
			f.Questions++
			if t.Stored {
				f.StoredQuestions++
			}
			rank, before := x.rank(i, q)
			if rank > 0 && rank <= reach && !gives(q, t.Name) {
				f.Found++
				if t.Stored {
					f.StoredFound++
				}
				continue
			}
			m := Missed{Tool: t.Name, Question: q, Rank: rank, First: []string{}}
			for _, b := range before[:min(reach, len(before))] {
				m.First = append(m.First, tools[b].Name)
			}
			if gives(q, t.Name) {
				m.Reason = "the question contains the name of the tool"
			}
			f.Missed = append(f.Missed, m)
		}
	}
	return f, x.pairs(tools)
}

// pairs returns the tools that are easily confused, the most alike first.
func (x *index) pairs(tools []Tool) []Pair {
	pairs := []Pair{}
	for a := range tools {
		for b := range a {
			if s := x.alike(b, a); s >= minAlike {
				pairs = append(pairs, Pair{tools[b].Name, tools[a].Name, math.Round(s*100) / 100})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Alike, a.Alike) })
	return pairs[:min(maxPairs, len(pairs))]
}
