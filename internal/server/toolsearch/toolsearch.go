// Package toolsearch searches named things by text and returns the best match first.
//
// A search finds the entries that have any word of the text: the same word, another inflection of
// it, a synonym of the general English thesaurus in synonyms.txt, or a word that differs in a letter
// or two. BM25 ranks them over the fields of the entries. After these rank entries that contain all
// words of the text as letters: as a substring, or in order with other letters in between.
package toolsearch

import "strings"

// Order returns the indexes of the entries that match a text, in the order of [Index.Search].
func Order(text string, entries []Entry) []int {
	return NewIndex(entries).Search(text, indexes(len(entries)))
}

// indexes returns the numbers from 0 to n-1.
func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// contentWords returns the words of a text in the form of [fold], without stop words unless it has only
// stop words.
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
