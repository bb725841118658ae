package toolsearch

import (
	"regexp"
	"strings"
)

// intent says what a search wants to do.
type intent int

const (
	read   intent = iota // to read
	change               // to change something
	either               // the words do not show which
)

// changeVerbs are verbs that ask for a change when a search begins with them.
var changeVerbs = set(`
accept acknowledge add alter amend annotate append apply approve archive assign attach cancel change clear close
confirm convene correct create declare decline define delete deny deprecate disable discard edit enable enroll enter
erase extend fulfil grant hire insert invite lend make mark merge modify move pay postpone prolong promote propose
publish put raise record register reject remove rename replace reschedule resolve revise revoke save send set settle
solve start stop submit supersede switch take terminate transfer update upload withdraw write`)

// ambiguousVerbs are verbs that ask for a change only if an article or the like follows: "open a
// ticket" does, "open tickets" may not.
var ambiguousVerbs = set(`
advance book call claim comment complete document draft drop file finish flag issue label link log note offer open
order place post rate reply report request reserve return schedule ship sign store tag`)

// articles are words before a noun. An ambiguous verb before one of them asks for a change.
var articles = set(`a an another my new our that the this your`)

// preambles are words before the verb of a request.
var preambles = set(`can could do how i let like may must need please that to us want we would you`)

// asking matches a search whose last clause is a question, such as "I want to rename it; who calls it?".
var asking = regexp.MustCompile(`(?i)(^|[.,;:!?]\s+)(who|whom|whose|what|which|where|when|why|how many|how much|how far)\b[^.,;:!?]*\?\s*$`)

// intentOf returns the intent of a search by its first words, or by its last clause if this is a question.
func intentOf(s string) intent {
	if asking.MatchString(s) {
		return read
	}
	words := strings.Fields(fold(s))
	for len(words) > 0 && preambles[words[0]] {
		words = words[1:]
	}
	switch {
	case len(words) > 0 && changeVerbs[words[0]]:
		return change
	case len(words) > 0 && ambiguousVerbs[words[0]]:
		if len(words) > 1 && articles[words[1]] {
			return change
		}
		return either
	}
	return read
}

// set returns the words of a text as a set.
func set(words string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

// side is the part of a search that a word is in.
type side int

const (
	head  side = iota // what is wanted: "tickets" of "tickets of a customer"
	tail              // what it belongs to: "customer"
	sides             // number of sides
)

// prepositions begin the tail of a name or a search.
var prepositions = set(`
about across after against around at before behind below between by during for from in into of on over per since that
through to towards under until upon via where which who whom whose with within without`)

// split splits a list of words into two parts. The tail begins with the first preposition that is
// not the first word.
func split(words []string) (head, tail []string) {
	for i, w := range words {
		if i > 0 && prepositions[w] {
			return words[:i], words[i:]
		}
	}
	return words, nil
}
