package lex

import (
	"iter"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
)

// Tokens is the rest of a text.
type Tokens []Token

// At returns the token n places after the first one.
func (t Tokens) At(n int) Token {
	if n < len(t) {
		return t[n]
	}
	return Token{}
}

// Are reports whether the first tokens have the values, in any case.
func (t Tokens) Are(values ...string) bool {
	for i, v := range values {
		if x := t.At(i); x.Kind != Word && x.Kind != Mark || !strings.EqualFold(x.Text, v) {
			return false
		}
	}
	return true
}

// One reports whether the first token is one of the words and the next one begins with one of the others.
func (t Tokens) One(first []string, second ...string) bool {
	if t.At(0).Kind != Word || !slices.Contains(first, strings.ToLower(t.At(0).Text)) {
		return false
	}
	return len(second) == 0 || slices.Contains(second, strings.ToLower(t.At(1).Text))
}

// Starters are the words that start another part of a query.
var Starters = []string{"match", "optional", "where", "filter", "return", "select", "with", "let", "having", "qualify", "group", "order", "orderby", "order_by",
	"limit", "first", "top", "offset", "skip", "unwind", "for", "foreach", "create", "insert", "merge", "upsert", "update", "set", "delete", "detach", "remove", "fetch", "next", "on", "call", "sort",
	"union", "intersect", "except", "minus"}

// opens and closes report whether a token is a bracket of one kind or the other.
func opens(t Token) bool  { return t.Kind == Mark && strings.Contains("([{", t.Text) }
func closes(t Token) bool { return t.Kind == Mark && strings.Contains(")]}", t.Text) }

// Outside lists the tokens outside of brackets with their indexes. The opening brackets at the top are among them.
func (t Tokens) Outside() iter.Seq2[int, Token] {
	return func(yield func(int, Token) bool) {
		depth := 0
		for i, x := range t {
			if closes(x) {
				depth--
			} else if depth == 0 && !yield(i, x) {
				return
			}
			if opens(x) {
				depth++
			}
		}
	}
}

// Inner returns the tokens before the first closing bracket that none of them opens.
func (t Tokens) Inner() Tokens {
	depth := 0
	for i, x := range t {
		if opens(x) {
			depth++
		} else if closes(x) {
			if depth--; depth < 0 {
				return t[:i]
			}
		}
	}
	return t
}

// GroupLen returns the number of tokens from the opening bracket that is the first one to the closing one, or to the end.
func (t Tokens) GroupLen() int { return min(len(t[1:].Inner())+2, len(t)) }

// StartsPart reports whether a token is a word that starts another part of a query.
func StartsPart(t Token) bool {
	return t.Kind == Word && slices.Contains(Starters, strings.ToLower(t.Text))
}

// Argument reports whether a name is that of an argument that arguments reads, apart from properties.
func Argument(name string) bool {
	return slices.Contains([]string{"first", "limit", "take", "top", "where", "filter", "filters", "condition", "orderby", "order", "sort", "orderasc", "orderdesc",
		"offset", "skip", "start", "options", "pagination", "paging", "after", "groupby", "distinct", "distincton", "depth", "maxdepth", "hops", "maxhops", "func",
		"pagesize", "perpage", "page"}, naming.Plain(name))
}

// EndsRows reports whether a part of SQL comes next that orders or bounds the rows, or adds others. Order may be the name of a
// table.
func (t Tokens) EndsRows() bool {
	next := t.At(1)
	return t.Are("order", "by") || t.One([]string{"limit", "offset"}) && (next.Kind == Number || next.Kind == Dollar) ||
		t.Are("fetch") && (next.Are("first") || next.Are("next")) || t.One([]string{"union", "intersect", "except"})
}

// MaxText is the length in bytes of the longest text that Rewrite reads.
const MaxText = 4 << 10

// TokensOf splits a text that is not too long.
func TokensOf(text string) (tokens []Token, ok bool) {
	if len(text) > MaxText {
		return nil, false
	}
	if inner, ok := strings.CutPrefix(strings.TrimSpace(text), "```"); ok { // a fenced block of Markdown
		_, inner, _ = strings.Cut(inner, "\n")
		text = strings.TrimSuffix(inner, "```")
	}
	tokens, ok = Scan(text)
	return tokens, ok && len(tokens) > 0
}

// Writers are the words of statements that change the graph.
var Writers = []string{"create", "insert", "merge", "upsert", "update", "set", "delete", "remove"}

// Are reports whether a token is a word.
func (t Token) Are(name string) bool { return t.Kind == Word && strings.EqualFold(t.Text, name) }

// Relations are the operators that order or equate two values.
var Relations = map[string]string{"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
