package syntax

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// hint is a row of the tables that help authors who use the syntax of another language. The
// first row that matches an error supplies its help.
type hint struct {
	in   string // the settings that it applies in, separated by spaces
	text string // a pattern of tokens around the error
	want string // text that must occur in the list of expected tokens; empty for any
	help string // the help; see expand for its verbs
}

// The settings. Outside all brackets, the setting is `head` or `decl` within the head of a
// declaration, and `queries` or `schema` between declarations. The scanner's errors have the
// setting `character`. The settings whose names end in `-value` are for an expression that the
// grammar accepts as a value but that is not allowed there.
const (
	inQueries    = "queries"     // between the queries of a file
	inSchema     = "schema"      // between the declarations of a schema
	inQueryHead  = "head"        // a query before its braces
	inTypeHead   = "decl"        // the declaration of a type, before its braces
	inParams     = "params"      // the parentheses of a query
	inBody       = "body"        // the braces of a query
	inMatch      = "match"       // the braces of match, or of a not, exists, any, all or optional block
	inBinding    = "binding"     // the braces of a binding
	inBounds     = "bounds"      // hop bounds
	inReturn     = "return"      // the braces of return
	inOrder      = "order"       // the braces of order
	inAssigns    = "assigns"     // the braces of insert or set
	inCall       = "call"        // the parentheses of a call
	inList       = "list"        // the brackets of a list
	inType       = "type"        // the braces of a type
	inEnum       = "enum"        // the parentheses of an enum
	inAnnotation = "annotation"  // the parentheses of an annotation
	inCharacter  = "character"   // an error of the scanner
	inMatchValue = "match-value" // a value in the braces of a binding
	inWriteValue = "write-value" // a value in an assignment
	inWhereValue = "where-value" // a value in a `where`
	inParamValue = "param-value" // a value in an annotation of a parameter
)

// rule is a hint with its pattern split into terms. A pattern is a list of terms separated by
// spaces. A term is a list of alternatives separated by bars; each is one token, in upper or
// lower case, or a class of tokens in angle brackets. ^ marks the token at which the parser
// stopped, and ! the token to underline if that is a different one.
type rule struct {
	*hint
	settings          []string   // settings in which the rule applies
	terms             [][]string // alternatives of each term
	found, underlined int        // indexes of the terms with ^ and !
}

// rules parses the tables of hints.
var rules = sync.OnceValue(func() []rule {
	var out []rule
	for _, table := range [][]hint{literalHints, queryHints, matchHints, schemaHints, characterHints} {
		for i := range table {
			r := rule{hint: &table[i], settings: strings.Fields(table[i].in), underlined: -1}
			for j, term := range strings.Fields(table[i].text) {
				if rest, ok := strings.CutPrefix(term, "^"); ok && rest != "" {
					term, r.found = rest, j
				} else if rest, ok := strings.CutPrefix(term, "!"); ok && rest != "" && rest[0] != '=' {
					term, r.underlined = rest, j
				}
				r.terms = append(r.terms, strings.Split(term, "|"))
			}
			if r.underlined < 0 {
				r.underlined = r.found
			}
			out = append(out, r)
		}
	}
	return out
})

// hintFor returns the help for an error and the token to underline. The help is empty if no row
// matches.
func hintFor(pl place) (string, Token) {
	rs := rules()
	for i := range rs {
		if at, ok := rs[i].matches(pl); ok {
			noteHint(rs[i].hint)
			return expand(rs[i].help, at, pl), at[rs[i].underlined]
		}
	}
	return "", pl.found
}

// noteHint is called with each row that supplies help. It does nothing, except in the test that
// every row is used.
var noteHint = func(*hint) {}

// matches reports whether the rule matches a place. It returns the token that matches each term of
// the pattern.
func (r *rule) matches(pl place) ([]Token, bool) {
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
		// The name of a property cannot be underlined as a keyword of another language.
		if i == 0 && i == r.underlined && at[i].Type == Name && j > 0 && pl.before[j-1].Value == "." {
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

// is reports whether a token matches one of the alternatives of a term.
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
		case "<keyword>": // a keyword in the wrong case
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

// keywords lists the keywords of both languages.
var keywords = []string{
	"query", "match", "return", "order", "limit", "not", "as", "asc", "desc", "insert", "upsert", "update", "delete", "set", "where", "for",
	"contains", "starts_with", "true", "false", "node", "edge", "interface", "implements",
}
