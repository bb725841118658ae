package syntax

import (
	"regexp"
	"slices"
	"sync"
)

// Scan returns the tokens and the comments of a text in source order. The text need not follow the
// grammar, so an editor can work on it while its author types. If the text is not valid UTF-8 or has a
// NUL byte, the lists are empty. They end before a string or a block comment that is not closed.
func Scan(file, text string) ([]Token, []Comment) {
	s := scan(nil, file, text)
	return s.tokens, s.comments
}

// QueryWords returns the words that the grammar of .gq files names, such as match and asc, sorted.
// Except in the places of a keyword, an author may use most of them as names.
var QueryWords = sync.OnceValue(func() []string { return wordsOf(QueryGrammar()) })

// SchemaWords returns the words that the grammar of .pg files names, such as node and enum, sorted.
var SchemaWords = sync.OnceValue(func() []string { return wordsOf(SchemaGrammar()) })

// quotedWord matches a word that a production names.
var quotedWord = regexp.MustCompile(`"([a-z_]+)"`)

// wordsOf returns the words that productions name, sorted and without duplicates.
func wordsOf(list []Production) []string {
	var words []string
	for _, p := range list {
		for _, m := range quotedWord.FindAllStringSubmatch(p.Rule, -1) {
			words = append(words, m[1])
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// IsFunction reports whether a name followed by a parenthesis is a call: of a function, of an
// aggregate, of now, or of a function that writes a literal.
func IsFunction(name string) bool { return functionSet()[name] }

// functionSet holds the names for which IsFunction returns true.
var functionSet = sync.OnceValue(func() map[string]bool {
	return set(Functions, literalFunctions, []string{"now", ActorFunction, OriginFunction})
})

// IsQueryWord reports whether QueryWords has a word.
func IsQueryWord(word string) bool { return queryWordSet()[word] }

// queryWordSet holds the words of QueryWords.
var queryWordSet = sync.OnceValue(func() map[string]bool { return set(QueryWords()) })

// set returns the words of lists as a set.
func set(lists ...[]string) map[string]bool {
	all := map[string]bool{}
	for _, list := range lists {
		for _, word := range list {
			all[word] = true
		}
	}
	return all
}

// LiteralFunctions returns the names of the functions that write a literal, such as date.
func LiteralFunctions() []string { return slices.Clone(literalFunctions) }

// QueryAnnotations returns the annotations that a query can have, with @.
func QueryAnnotations() []string { return slices.Clone(queryAnnotations) }

// ParamAnnotations returns the annotations that a parameter can have, with @.
func ParamAnnotations() []string { return slices.Clone(paramAnnotations) }
