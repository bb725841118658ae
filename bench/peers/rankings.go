package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// depth is the number of rows in a ranking.
const depth = 10

// judge returns a function that checks the answer to a ranking against scores computed from all
// posts. Databases weight words differently and round differently. So an answer is correct if at
// least one of the known formulas gives no omitted post a better score than the last post of the
// answer.
func (b *bench) judge(w *work, args []any) func([]any, [][]any) error {
	var scorings []map[string]float64 // higher is better
	switch w.id {
	case "w8":
		scorings = b.textScores(strings.Fields(args[0].(string)))
	case "w9":
		scorings = []map[string]float64{b.nearness(args[0].([]float32))}
	}
	return func(_ []any, rows [][]any) error {
		var err error
		for _, scores := range scorings {
			if err = topOf(scores, rows); err == nil {
				return nil
			}
		}
		return err
	}
}

// topOf checks that the rows are those with the best scores, in descending order.
func topOf(scores map[string]float64, rows [][]any) error {
	best := slices.Sorted(maps.Values(scores))
	slices.Reverse(best)
	if want := min(depth, len(best)); len(rows) != want {
		return fmt.Errorf("%d rows, want %d", len(rows), want)
	}
	seen := make(map[string]bool)
	for i, row := range rows {
		slug := row[0].(string)
		score, ok := scores[slug]
		switch {
		case seen[slug]:
			return fmt.Errorf("%s comes twice", slug)
		case !ok:
			return fmt.Errorf("%s matches nothing", slug)
		case math.Abs(score-best[i]) > 1e-5*math.Max(1, math.Abs(best[i])):
			return fmt.Errorf("row %d is %s with the score %v, expected one of %v", i, slug, score, best[i])
		}
		seen[slug] = true
	}
	return nil
}

// textScores returns the BM25 scores (k1 1.2, b 0.75) of the posts with any of the words: once with
// the idf of this engine, ln(1+(N−n+½)/(n+½)), and once with that of FTS5, ln((N−n+½)/(n+½)) or
// 1e-6 if that is less (ext/fts5/fts5_aux.c).
func (b *bench) textScores(words []string) []map[string]float64 {
	type match struct {
		counts []float64
		length float64
	}
	matches := make(map[string]match)
	holds := make([]float64, len(words))
	posts, total := 0.0, 0.0
	for p := range b.graph.AllPosts() {
		tokens := strings.Fields(p.Text)
		posts++
		total += float64(len(tokens))
		m := match{counts: make([]float64, len(words)), length: float64(len(tokens))}
		any := false
		for i, word := range words {
			for _, t := range tokens {
				if t == word {
					m.counts[i]++
				}
			}
			if m.counts[i] > 0 {
				holds[i]++
				any = true
			}
		}
		if any {
			matches[b.graph.PostSlug(p.Number)] = m
		}
	}
	const k1, weight = 1.2, 0.75
	score := func(idf func(n float64) float64) map[string]float64 {
		out := make(map[string]float64, len(matches))
		for slug, m := range matches {
			for i, count := range m.counts {
				out[slug] += idf(holds[i]) * count * (k1 + 1) / (count + k1*(1-weight+weight*m.length/(total/posts)))
			}
		}
		return out
	}
	return []map[string]float64{
		score(func(n float64) float64 { return math.Log(1 + (posts-n+0.5)/(n+0.5)) }),
		score(func(n float64) float64 { return max(1e-6, math.Log((posts-n+0.5)/(n+0.5))) }),
	}
}

// nearness returns the cosine similarity between the vector `to` and each post that has a vector.
func (b *bench) nearness(to []float32) map[string]float64 {
	out := make(map[string]float64)
	for p := range b.graph.AllPosts() {
		if p.Vector == nil {
			continue
		}
		var dot, a, c float64
		for i, x := range p.Vector {
			dot += float64(x) * float64(to[i])
			a += float64(x) * float64(x)
			c += float64(to[i]) * float64(to[i])
		}
		out[b.graph.PostSlug(p.Number)] = dot / math.Sqrt(a*c)
	}
	return out
}
