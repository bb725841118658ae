package foreign

import (
	"slices"
	"strings"
)

// openers are the words that start the body of a query or of a mutation.
var openers = []string{"match", "optional", "where", "filter", "return", "select", "with", "let", "unwind", "for", "foreach", "call",
	"from", "create", "insert", "merge", "upsert", "update", "set", "delete", "detach", "remove"}

// graphNote explains why a query has no graph.
const graphNote = "a query names no graph: the call does"

// document reads the whole text.
func (r *rewriter) document() {
	r.readFragments()
	r.identifiers()
	r.dialect()
	r.inlineTables()
	if r.is("with", "recursive") {
		r.recursive()
	}
	r.parametersApart()
	for r.is("use") && (r.peek(1).kind == word || r.peek(1).kind == text) {
		r.next()
		r.next()
		r.note(graphNote)
	}
	mutation := r.is("mutation")
	switch {
	case r.isOne("query", "mutation") && r.headed():
		r.next()
		if r.peek(0).kind == word {
			r.name = lower(r.word())
		}
		if r.is("(") {
			r.parameters()
		}
		r.resultType()
		r.expect("{")
		r.inBraces(mutation)
		r.expect("}")
	case r.accept("{"):
		r.inBraces(false)
		r.expect("}")
	default:
		r.body()
	}
	r.accept(";")
	refuse(r.at < len(r.tokens) || mutation && len(r.statements) == 0)
}

// resultType skips the type of the result after the head, as in query q(): [Person!]!.
func (r *rewriter) resultType() {
	if !r.accept(":") && !r.accept("->") && !r.accept("returns") && !r.accept("=", ">") && !r.accept("as") {
		return
	}
	for !r.is("{") {
		if t := r.next(); t.kind != word && !strings.Contains("[]!?", t.text) {
			panic(giveUp{})
		}
	}
}

// headed reports whether the word query or mutation at the start of the text begins a head, which a
// brace or a parenthesis ends.
func (r *rewriter) headed() bool {
	i := 1
	if r.peek(i).kind == word {
		i++
	}
	t := r.peek(i)
	return t.kind == mark && (t.text == "{" || t.text == "(" || t.text == "@")
}

// inBraces reads the fields of a document of GraphQL, or the body of a query.
func (r *rewriter) inBraces(mutation bool) {
	first, second := r.peek(0), r.peek(1)
	if first.kind != word || second.text == ":" {
		if first.kind == dollar {
			r.body()
			return
		}
		r.selections(mutation)
		return
	}
	fields := second.text == "(" || second.text == "{"
	switch name := strings.ToLower(first.text); {
	case !slices.Contains(openers, name), fields && r.pluralType(first.text) != "":
		r.selections(mutation)
	default:
		r.body()
	}
}
