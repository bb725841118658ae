// Package nearest rewrites a text that has habits of Cypher, SQL, GraphQL or ISO GQL as a query of
// this language.
package nearest

import (
	"maps"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// MaxText is the length in bytes of the longest text that Rewrite reads.
const MaxText = 4 << 10

// maxSteps bounds the tokens that one rewriting reads. It reads some tokens more than once, because a
// parenthesis may open a pattern or an expression.
const maxSteps = 20_000

// maxDepth bounds the nesting of expressions and blocks.
const maxDepth = 50

// maxVars bounds the variables of a text.
const maxVars = 64

// Rewrite returns a query for a text, on one line. It reports false if the text contains something
// that has no counterpart, so that a result leaves out nothing that the text asks for. It does not
// check types, and the result may have faults: offer it only if it compiles.
func Rewrite(s *catalog.Schema, text string) (query string, ok bool) {
	if len(text) > MaxText {
		return "", false
	}
	tokens, ok := scan(text)
	if !ok || len(tokens) == 0 {
		return "", false
	}
	r := &rewriter{schema: s, tokens: tokens, vars: map[string]string{}, paths: map[string]bool{}, values: map[string]string{}, name: "q"}
	defer func() {
		if p := recover(); p != nil {
			if _, gave := p.(giveUp); !gave {
				panic(p)
			}
			query, ok = "", false
		}
	}()
	r.document()
	return r.render(), true
}

// giveUp is the panic that ends a rewriting without a result.
type giveUp struct{}

// rewriter reads the tokens of one text and collects the parts of the query.
type rewriter struct {
	schema *catalog.Schema
	tokens []token
	at     int // index of the next token
	steps  int // tokens read, including those that were read again
	depth  int

	name   string   // of the query
	params []string // its parameters
	head   []string // its annotations

	vars   map[string]string // by name of a variable: its type, or "" if it is not known
	order  []string          // the variables in the order in which they were bound
	paths  map[string]bool   // the variables of walks
	values map[string]string // by name: the expression that WITH or LET gives a name
	tables []string          // the variables whose properties a bare name may mean

	aliases  []string // of the columns
	computed []column // the columns, and the values of WITH
	keys     []string // the nodes among the values of WITH

	joins    bool   // || joins texts, and does not mean or
	inTest   bool   // an expression may be a condition by itself
	inHaving bool   // conditions use the names of columns
	inWhere  string // the type whose properties have no variable, in the where and the set of a mutation
	whereVar string // the variable that stands for it in other languages

	read
	statements []string // of a mutation
}

// read holds the parts of a read.
type read struct {
	match    []cond
	columns  []string
	distinct bool
	having   []cond
	sort     []string
	limit    string
	skip     string // the rows to leave out, or ""
}

// render writes the query.
func (r *rewriter) render() string {
	var body []string
	if len(r.statements) > 0 {
		if len(r.match) > 0 {
			body = append(body, "match { "+join(r.match)+" } { "+strings.Join(r.statements, " ")+" }")
		} else {
			body = append(body, r.statements...)
		}
		if len(r.columns) > 0 {
			body = append(body, "return { "+strings.Join(r.columns, ", ")+" }")
		}
	} else {
		r.page()
		r.groupKeys()
		body = append(body, r.read.render())
	}
	head := "query " + r.name + "(" + strings.Join(r.params, ", ") + ") "
	for _, a := range r.head {
		head += a + " "
	}
	return head + "{ " + strings.Join(body, " ") + " }"
}

// render writes a read without its head.
func (q *read) render() string {
	if len(q.match) == 0 || len(q.columns) == 0 || q.skip != "" {
		panic(giveUp{})
	}
	out := "match { " + join(q.match) + " } return "
	if q.distinct {
		out += "distinct "
	}
	out += "{ " + strings.Join(q.columns, ", ") + " }"
	if len(q.having) > 0 {
		out += " having { " + join(q.having) + " }"
	}
	if len(q.sort) > 0 {
		out += " order { " + strings.Join(q.sort, ", ") + " }"
	}
	if q.limit != "" {
		out += " limit " + q.limit
	}
	return out
}

// page replaces an offset: with one sort key that is a property, the rows after a value of this key
// are the next page.
func (r *rewriter) page() {
	if r.skip == "" {
		return
	}
	if len(r.sort) != 1 {
		panic(giveUp{})
	}
	key, descending := strings.CutSuffix(r.sort[0], " desc")
	key = strings.TrimSuffix(key, " asc")
	v, property, ok := strings.Cut(key, ".")
	p := r.property(r.vars[strings.TrimPrefix(v, "$")], property)
	if !ok || p == nil {
		panic(giveUp{})
	}
	op := " > "
	if descending {
		op = " < "
	}
	r.params = append(r.params, "$after: "+p.Type.Kind.String()+"?")
	r.match = append(r.match, leaf(key+op+"$after?"))
	r.skip = ""
}

// peek returns the token n places after the next one.
func (r *rewriter) peek(n int) token {
	if r.at+n < len(r.tokens) {
		return r.tokens[r.at+n]
	}
	return token{}
}

// next reads a token.
func (r *rewriter) next() token {
	t := r.peek(0)
	if r.steps++; r.steps > maxSteps || t.kind == end {
		panic(giveUp{})
	}
	r.at++
	return t
}

// is reports whether the next tokens have the values, in any case.
func (r *rewriter) is(values ...string) bool {
	for i, v := range values {
		if t := r.peek(i); t.kind != word && t.kind != mark || !strings.EqualFold(t.text, v) {
			return false
		}
	}
	return true
}

// isOne reports whether the next token has one of the values, in any case.
func (r *rewriter) isOne(values ...string) bool {
	for _, v := range values {
		if r.is(v) {
			return true
		}
	}
	return false
}

// accept reads the tokens if they come next.
func (r *rewriter) accept(values ...string) bool {
	if !r.is(values...) {
		return false
	}
	for range values {
		r.next()
	}
	return true
}

// expect reads the tokens, which must come next.
func (r *rewriter) expect(values ...string) {
	if !r.accept(values...) {
		panic(giveUp{})
	}
}

// word reads a word.
func (r *rewriter) word() string {
	t := r.next()
	if t.kind != word {
		panic(giveUp{})
	}
	return t.text
}

// try runs f. If f gives up, try reports false and restores what f read, bound and collected.
func (r *rewriter) try(f func()) (ok bool) {
	saved := *r
	saved.vars, saved.paths = maps.Clone(r.vars), maps.Clone(r.paths)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, gave := p.(giveUp); !gave || r.steps > maxSteps {
			panic(p)
		}
		saved.steps = r.steps
		*r, ok = saved, false
	}()
	f()
	return true
}

// deeper counts a level of nesting until the function that it returns is called.
func (r *rewriter) deeper() func() {
	if r.depth++; r.depth > maxDepth {
		panic(giveUp{})
	}
	return func() { r.depth-- }
}
