package syntax

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// hint is a row of the tables that lead from the habits of other languages to this
// one. The first row that fits a fault gives its help.
type hint struct {
	in   string // the settings it holds for, with spaces between them
	text string // a pattern of tokens around the fault
	want string // a piece of what the grammar wanted there, if that matters
	help string // with the names of the source put in: see expand
}

// The settings. A fault outside all brackets is in a head, or between declarations in
// queries or schema; one that the scanner found is a character; a value is one that
// the grammar took and that a literal should be.
const (
	inQueries    = "queries"
	inSchema     = "schema"
	inQueryHead  = "head"
	inTypeHead   = "decl"
	inParams     = "params"
	inBody       = "body"
	inMatch      = "match"
	inBinding    = "binding"
	inBounds     = "bounds"
	inReturn     = "return"
	inOrder      = "order"
	inAssigns    = "assigns"
	inCall       = "call"
	inList       = "list"
	inType       = "type"
	inEnum       = "enum"
	inAnnotation = "annotation"
	inCharacter  = "character"
	inMatchValue = "match-value"
	inWriteValue = "write-value"
	inWhereValue = "where-value"
)

// rule is a hint with its pattern cut into terms. A pattern is terms with spaces
// between them; a term is alternatives with bars between them, a token each in any
// case, or a class in angle brackets. ^ marks the token that was found, and ! the one
// to blame when it is another.
type rule struct {
	*hint
	settings      []string
	terms         [][]string
	found, blamed int
}

var rules = sync.OnceValue(func() []rule {
	var out []rule
	for _, table := range [][]hint{queryHints, matchHints, schemaHints, characterHints} {
		for i := range table {
			r := rule{hint: &table[i], settings: strings.Fields(table[i].in), blamed: -1}
			for j, term := range strings.Fields(table[i].text) {
				if rest, ok := strings.CutPrefix(term, "^"); ok && rest != "" {
					term, r.found = rest, j
				} else if rest, ok := strings.CutPrefix(term, "!"); ok && rest != "" && rest[0] != '=' {
					term, r.blamed = rest, j
				}
				r.terms = append(r.terms, strings.Split(term, "|"))
			}
			if r.blamed < 0 {
				r.blamed = r.found
			}
			out = append(out, r)
		}
	}
	return out
})

// hintFor returns the help for a fault, and the token to blame for it; the help is
// empty when no row fits.
func hintFor(pl place) (string, Token) {
	rs := rules()
	for i := range rs {
		if at, ok := rs[i].fits(pl); ok {
			noteHint(rs[i].hint)
			return expand(rs[i].help, at, pl), at[rs[i].blamed]
		}
	}
	return "", pl.found
}

// noteHint is told which rows serve; it does nothing but in the test that wants each.
var noteHint = func(*hint) {}

// fits returns the token that each term of the pattern stands for.
func (r *rule) fits(pl place) ([]Token, bool) {
	if len(r.settings) > 0 && !slices.Contains(r.settings, pl.in) || !strings.Contains(pl.want, r.want) {
		return nil, false
	}
	if !is(pl.found, r.terms[r.found]) {
		return nil, false
	}
	at := make([]Token, len(r.terms))
	at[r.found] = pl.found
	for i, j := r.found-1, len(pl.before)-1; i >= 0; i, j = i-1, j-1 {
		if r.terms[i][0] == "<group>" && pl.closed >= 0 {
			j = pl.closed
			continue
		}
		if j < 0 || !is(pl.before[j], r.terms[i]) {
			return nil, false
		}
		at[i] = pl.before[j]
		// What is blamed for a word of another language must not be a property's name.
		if i == 0 && i == r.blamed && at[i].Type == Name && j > 0 && pl.before[j-1].Value == "." {
			return nil, false
		}
	}
	for i := r.found + 1; i < len(r.terms); i++ {
		if j := i - r.found - 1; j >= len(pl.after) || !is(pl.after[j], r.terms[i]) {
			return nil, false
		}
		at[i] = pl.after[i-r.found-1]
	}
	return at, true
}

// is reports whether a token is one of the alternatives of a term.
func is(t Token, term []string) bool {
	for _, alt := range term {
		if len(alt) < 3 || alt[0] != '<' {
			if strings.EqualFold(t.Value, alt) {
				return true
			}
			continue
		}
		ok := false
		switch alt {
		case "<any>":
			ok = !t.EOF()
		case "<end>":
			ok = t.EOF()
		case "<name>":
			ok = t.Type == Name
		case "<typename>":
			ok = t.Type == TypeName
		case "<word>":
			ok = t.Type == Name || t.Type == TypeName
		case "<var>":
			ok = t.Type == Var
		case "<string>":
			ok = t.Type == String
		case "<number>":
			ok = t.Type == Int || t.Type == Float
		case "<int>":
			ok = t.Type == Int
		case "<constant>":
			ok = t.Type == String || t.Type == Int || t.Type == Float || t.Value == "true" || t.Value == "false"
		case "<relation>":
			ok = t.Type == Relation
		case "<keyword>": // in the wrong case
			ok = t.Type == TypeName && slices.Contains(keywords, strings.ToLower(t.Value))
		case "<bar>":
			ok = strings.Trim(t.Value, "|") == "" && t.Value != ""
		case "<quoted>":
			r, n := utf8.DecodeRuneInString(t.Value)
			ok = n < len(t.Value) && quotes[r] != 0
		}
		if ok {
			return true
		}
	}
	return false
}

// keywords are the words of both languages.
var keywords = []string{
	"query", "match", "return", "order", "limit", "not", "as", "asc", "desc", "insert", "update", "delete", "set", "where",
	"contains", "starts_with", "true", "false", "node", "edge", "interface", "implements",
}
