// Package toolsearch searches named things by text and returns the best match first.
//
// A search finds the entries that have any word of the text: the same word, another inflection of
// it, a synonym of the general English thesaurus in synonyms.txt, or a word that differs in a
// letter or two. BM25 ranks them over the fields of the entries. The entries that contain all words
// of the text only as letters rank after them. Such an entry contains the letters as a substring,
// or in order with other letters in between.
package toolsearch

import (
	"slices"
	"strings"
)

// Similar returns the indexes of the names that contain the letters of all words of a text, the
// best match first. It ignores the sense of the words, because a wrong name is most often a typing
// error.
func Similar(text string, names []string) []int {
	words := strings.Fields(fold(text))
	grades := map[int]int{}
	var order []int
	for i, name := range names {
		e := folded{name: fold(name)}
		if g, ok := e.grade(words); ok {
			grades[i] = g
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return grades[a] - grades[b] })
	return order
}

// contentWords returns the words of a text in the form of [fold], without stop words unless it has
// only stop words.
func contentWords(s string) []string {
	all := strings.Fields(fold(s))
	var content []string
	a := newAnalyzer()
	for _, w := range all {
		if t := a.tokens(w); len(t) > 0 && !t[0].stop {
			content = append(content, w)
		}
	}
	if len(content) == 0 {
		return all
	}
	return content
}
