package toolsearch

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// token is the form in which the index contains a word: the stem of a content word, or a stop word
// unchanged.
type token struct {
	text string // the stem or the stop word
	stop bool   // a stop word, such as "of"
}

// analyzer cuts texts into tokens. Only one goroutine may use it at a time.
type analyzer struct {
	stems *tokenizer.Analyzer // finds the stems of words
	known map[string][]token  // the tokens of a word, by the folded word
}

// newAnalyzer returns an analyzer that has not seen any word.
func newAnalyzer() *analyzer {
	return &analyzer{tokenizer.NewAnalyzer(), map[string][]token{}}
}

// contractions writes out endings that would become words of their own.
var contractions = strings.NewReplacer("'s", "", "’s", "", "n't", " not", "n’t", " not")

// tokens returns the tokens of a text in order.
func (a *analyzer) tokens(s string) []token {
	var all []token
	for w := range strings.FieldsSeq(fold(contractions.Replace(s))) {
		t, ok := a.known[w]
		if !ok {
			t = a.learn(w)
			a.known[w] = t
		}
		all = append(all, t...)
	}
	return all
}

// learn returns the tokens of a folded word. A word such as "unsigned" has two: "not" and the stem
// of "signed", so that it matches "without signature".
func (a *analyzer) learn(w string) []token {
	if base, ok := irregular[w]; ok {
		w = base
	}
	if rest, ok := negated(w); ok {
		return append([]token{{"not", true}}, a.learn(rest)...)
	}
	if t, ok := apart[w]; ok {
		return []token{{text: t}}
	}
	numbers := a.stems.Append(nil, w)
	if len(numbers) == 0 {
		return []token{{w, true}}
	}
	tokens := make([]token, len(numbers))
	for i, n := range numbers {
		tokens[i] = token{text: a.stems.Tokens[n]}
	}
	return tokens
}

// negated returns a word without its prefix "un", and whether it has one. It recognizes participles
// and adjectives by their endings, since "under" and "unit" negate nothing.
func negated(w string) (string, bool) {
	rest, ok := strings.CutPrefix(w, "un")
	if !ok || len(rest) < 4 || strings.HasPrefix(rest, "der") || strings.HasPrefix(rest, "i") {
		return "", false
	}
	for _, ending := range []string{"ed", "able", "y", "en"} {
		if strings.HasSuffix(rest, ending) {
			return rest, true
		}
	}
	return "", false
}

// irregular maps forms that the stemmer does not relate to their base forms. Forms that are more
// often another word, such as "left" and "saw", are not in it.
var irregular = func() map[string]string {
	bases := map[string]string{}
	for line := range strings.Lines(irregularForms) {
		if forms := strings.Fields(line); len(forms) > 0 {
			for _, f := range forms[1:] {
				bases[f] = forms[0]
			}
		}
	}
	return bases
}()

// irregularForms has the forms of one word on each line. The base form comes first.
const irregularForms = `
addendum addenda
analysis analyses
become became
begin began begun
bid bade bidden
break broke broken
bring brought
build built
buy bought
catch caught
child children
choose chose chosen
come came
criterion criteria
deal dealt
draw drew drawn
drive drove driven
eat ate eaten
fall fell fallen
feel felt
fight fought
find found
fly flew flown
forget forgot forgotten
get got gotten
give gave given
go went gone goes
grow grew grown
hear heard
hold held
index indices
keep kept
know knew known
lead led
learn learnt
lend lent
lose lost
make made
man men
mean meant
meet met
pay paid
person people persons
rely relied
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see seen
seek sought
sell sold
send sent
shake shook shaken
show shown
sink sank sunk
sit sat
speak spoke spoken
spend spent
stand stood
steal stole stolen
swear swore sworn
take took taken
teach taught
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
withdraw withdrew withdrawn
woman women
write wrote written
`

// Some words, such as "commit", have the same stem as another word. The map `apart` gives them
// tokens of their own.
var apart = map[string]string{
	"accountable": "accountable", "accounting": "accounting", "commitment": "commitment", "commitments": "commitment",
	"department": "department", "departments": "department", "news": "news", "organization": "organization", "organizations": "organization",
	"policy": "policy", "policies": "policy", "university": "university", "universities": "university",
}
