package foreign

import (
	"slices"
	"strings"
)

// tokens is the rest of a text.
type tokens []token

// at returns the token n places after the first one.
func (t tokens) at(n int) token {
	if n < len(t) {
		return t[n]
	}
	return token{}
}

// are reports whether the first tokens have the values, in any case.
func (t tokens) are(values ...string) bool {
	for i, v := range values {
		if x := t.at(i); x.kind != word && x.kind != mark || !strings.EqualFold(x.text, v) {
			return false
		}
	}
	return true
}

// one reports whether the first token is one of the words and the next one begins with one of the others.
func (t tokens) one(first []string, second ...string) bool {
	if t.at(0).kind != word || !slices.Contains(first, strings.ToLower(t.at(0).text)) {
		return false
	}
	return len(second) == 0 || slices.Contains(second, strings.ToLower(t.at(1).text))
}

// starters are the words that start another part of a query.
var starters = []string{"match", "optional", "where", "filter", "return", "select", "with", "let", "having", "qualify", "group", "order", "orderby", "order_by",
	"limit", "first", "top", "offset", "skip", "unwind", "for", "foreach", "create", "insert", "merge", "upsert", "update", "set", "delete", "detach", "remove", "fetch", "next", "on", "call", "sort",
	"union", "intersect", "except", "minus"}

// startsPart reports whether a token is a word that starts another part of a query.
func startsPart(t token) bool {
	return t.kind == word && slices.Contains(starters, strings.ToLower(t.text))
}

// argument reports whether a name is that of an argument that arguments reads, apart from properties.
func argument(name string) bool {
	return slices.Contains([]string{"first", "limit", "take", "top", "where", "filter", "filters", "condition", "orderby", "order", "sort", "orderasc", "orderdesc",
		"offset", "skip", "start", "options", "pagination", "paging", "after", "groupby", "distinct", "distincton", "depth", "maxdepth", "hops", "maxhops", "func",
		"pagesize", "perpage", "page"}, plain(name))
}

// endsRows reports whether a part of SQL comes next that orders or bounds the rows, or adds others. Order may be the name of a
// table.
func (t tokens) endsRows() bool {
	next := t.at(1)
	return t.are("order", "by") || t.one([]string{"limit", "offset"}) && (next.kind == number || next.kind == dollar) ||
		t.are("fetch") && (next.are("first") || next.are("next")) || t.one([]string{"union", "intersect", "except"})
}

// MaxText is the length in bytes of the longest text that Rewrite reads.
const MaxText = 4 << 10

// tokensOf splits a text that is not too long.
func tokensOf(text string) (tokens []token, ok bool) {
	if len(text) > MaxText {
		return nil, false
	}
	if inner, ok := strings.CutPrefix(strings.TrimSpace(text), "```"); ok { // a fenced block of Markdown
		_, inner, _ = strings.Cut(inner, "\n")
		text = strings.TrimSuffix(inner, "```")
	}
	tokens, ok = scan(text)
	return tokens, ok && len(tokens) > 0
}

// writers are the words of statements that change the graph.
var writers = []string{"create", "insert", "merge", "upsert", "update", "set", "delete", "remove"}

// are reports whether a token is a word.
func (t token) are(name string) bool { return t.kind == word && strings.EqualFold(t.text, name) }
