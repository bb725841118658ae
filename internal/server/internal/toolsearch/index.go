package toolsearch

import "strings"

// Entry holds the searchable texts of one thing, such as a stored query.
type Entry struct {
	Name        string   // such as tickets_of_customer
	Title       string   // a short name for people
	Description string   // what the thing does
	Params      []string // names of the parameters
	ParamDocs   []string // descriptions of the parameters
	Columns     []string // names of the columns of the result
	Questions   []string // questions that the tool answers
	Mutation    bool     // whether the tool changes something
	Nameless    bool     // whether no parameter takes a text, such as the name of a thing
}

// field is a kind of text of an entry.
type field int

const (
	headField        field = iota // the name up to its first preposition: "tickets" of "tickets_of_customer"
	tailField                     // the rest of the name
	descriptionField              // the title too, if it says more than the name
	paramField                    // names of the parameters
	paramDocField                 // descriptions of the parameters
	columnField                   // names of the columns
	questionField                 // examples of questions
	fields                        // number of fields
)

// typical gives a length in words for each field. In a field of this length, one occurrence of a
// word counts as 1; in a longer field it counts less. Unlike the average length of BM25, this
// length does not depend on entries that a caller may not see.
var typical = [fields]float64{headField: 2, tailField: 1, descriptionField: 12, paramField: 2, paramDocField: 12, columnField: 5, questionField: 16}

// Index holds entries in a form that can be searched. Its methods may be called concurrently.
type Index struct {
	entries  []Entry   // what can be found
	folded   []folded  // by entry, its texts for matches by letters
	negated  []bool    // by entry, whether the name or the description negates something
	names    [][]int32 // by entry, the words of the name without stop words
	sequence [][]int32 // by entry, the words of the name and the description in order, with -1 between fields

	number   map[string]int32 // the number of each word: a token, or a phrase of the thesaurus
	words    []string         // the words by number
	letters  []uint64         // by number, the set of letters of the word
	postings [][]posting      // the postings of each word, by its number, in the order of the entries
}

// posting says how much a word counts in each field of an entry.
type posting struct {
	entry int32           // number of the entry
	count [fields]float32 // by field
}

// NewIndex returns an index of entries, which must not change afterwards.
func NewIndex(entries []Entry) *Index {
	n := len(entries)
	x := &Index{
		entries: entries, folded: make([]folded, n), negated: make([]bool, n), names: make([][]int32, n), sequence: make([][]int32, n),
		number: map[string]int32{},
	}
	a := newAnalyzer()
	for i := range entries {
		x.add(a, i)
	}
	return x
}

// add indexes the entry i.
func (x *Index) add(a *analyzer, i int) {
	e, f := &x.entries[i], &x.folded[i]
	f.name, f.description = fold(e.Name), fold(e.Title+" "+e.Description)
	for _, p := range e.Params {
		f.params = append(f.params, fold(p))
	}
	title := e.Title
	if fold(title) == f.name {
		title = ""
	}
	nameHead, nameTail := split(strings.Fields(f.name))
	counts := map[int32]*[fields]float32{}
	for kind, texts := range [fields][]string{nameHead, nameTail, {title, e.Description}, e.Params, e.ParamDocs, e.Columns, e.Questions} {
		words, length := x.addField(a, i, field(kind), texts)
		once := float32(1 / (0.6 + 0.4*float64(length)/typical[kind]))
		for _, w := range words {
			if counts[w] == nil {
				counts[w] = &[fields]float32{}
			}
			counts[w][kind] += once
		}
		if field(kind) <= descriptionField {
			x.sequence[i] = append(append(x.sequence[i], words...), -1)
		}
	}
	for w, c := range counts {
		x.postings[w] = append(x.postings[w], posting{int32(i), *c})
	}
}

// addField returns the words of a field of the entry i, and how many of its tokens are not stop
// words.
func (x *Index) addField(a *analyzer, i int, kind field, texts []string) (words []int32, length int) {
	for _, text := range texts {
		tokens := a.tokens(text)
		for at, t := range tokens {
			if negations[t.text] && kind <= descriptionField {
				x.negated[i] = true
			}
			if !t.stop {
				length++
			}
			if !t.stop || english().knows(t.text) {
				words = append(words, x.numberOf(t.text))
			}
			if !t.stop && kind <= tailField {
				x.names[i] = append(x.names[i], x.numberOf(t.text))
			}
			for _, p := range english().phrasesAt(tokens[at:]) {
				words = append(words, x.numberOf(strings.Join(p, " ")))
			}
		}
	}
	return words, length
}

// numberOf returns the number of a word. A new word gets the next number.
func (x *Index) numberOf(word string) int32 {
	n, ok := x.number[word]
	if !ok {
		n = int32(len(x.words))
		x.number[word] = n
		x.words = append(x.words, word)
		x.letters = append(x.letters, letters(word))
		x.postings = append(x.postings, nil)
	}
	return n
}
