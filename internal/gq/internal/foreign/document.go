package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
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
	r.InlineTables()
	if r.Is("with", "recursive") {
		r.recursive()
	}
	r.parametersApart()
	for r.Is("use") && (r.Peek(1).Kind == lex.Word || r.Peek(1).Kind == lex.Text) {
		r.SkipTwo()
		r.note(graphNote)
	}
	mutation := r.Is("mutation")
	switch {
	case r.IsOne("query", "mutation") && r.Headed():
		r.Next()
		if r.Peek(0).Kind == lex.Word {
			r.name = naming.Lower(r.Word())
		}
		if r.Is("(") {
			r.parameters()
		}
		r.ResultType()
		r.Expect("{")
		r.inBraces(mutation)
		r.Expect("}")
	case r.Accept("{"):
		r.inBraces(false)
		r.Expect("}")
	default:
		r.body()
	}
	r.Accept(";")
	refuse.If(r.At < len(r.Tokens) || mutation && len(r.statements) == 0)
}

// inBraces reads the fields of a document of GraphQL, or the body of a query.
func (r *rewriter) inBraces(mutation bool) {
	first, second := r.Peek(0), r.Peek(1)
	if first.Kind != lex.Word || second.Text == ":" {
		if first.Kind == lex.Dollar {
			r.body()
			return
		}
		r.selections(mutation)
		return
	}
	fields := second.Text == "(" || second.Text == "{"
	switch name := strings.ToLower(first.Text); {
	case !slices.Contains(openers, name), fields && r.PluralType(first.Text) != "":
		r.selections(mutation)
	default:
		r.body()
	}
}

// dialect writes the tokens that only SQL has as those of the other languages: its forms of parameters, ARRAY before
// a list, and the statements around a transaction.
func (r *rewriter) dialect() {
	r.WithoutArray()
	if !r.IsSQL() {
		return
	}
	r.WithoutTransaction()
	if !slices.ContainsFunc(r.Tokens, func(t lex.Token) bool { return t.Are("match") }) { // in (:Person) a colon stands before a label
		r.NamedPlaceholders()
	}
	r.numberedPlaceholders()
}

// numberedPlaceholders gives the parameters $1 and ? names: p1 and the like.
func (r *rewriter) numberedPlaceholders() {
	names := map[string]string{} // by number
	var out []lex.Token
	asked := 0
	for i := 0; i < len(r.Tokens); i++ {
		t, rest := r.Tokens[i], lex.Tokens(r.Tokens[i+1:])
		digits := ""
		switch {
		case t.Kind == lex.Mark && t.Text == "$" && rest.At(0).Kind == lex.Number && !rest.At(0).Space:
			digits = rest.At(0).Text
			i++
		case t.Kind == lex.Mark && t.Text == "?":
			asked++
			digits = strconv.Itoa(asked)
		default:
			out = append(out, t)
			continue
		}
		if names[digits] == "" {
			refuse.If(len(names) >= maxVars)
			name := "p" + strings.ReplaceAll(digits, ".", "_")
			names[digits] = name
			if t.Text == "$" {
				r.note("the parameter $" + digits + " is $" + name)
			}
		}
		out = append(out, lex.Token{Kind: lex.Dollar, Text: names[digits], Space: t.Space})
	}
	r.Tokens = out
}
