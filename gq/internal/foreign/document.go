package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/refuse"
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
	for r.is("use") && (r.peek(1).Kind == lex.Word || r.peek(1).Kind == lex.Text) {
		r.next()
		r.next()
		r.note(graphNote)
	}
	mutation := r.is("mutation")
	switch {
	case r.isOne("query", "mutation") && r.headed():
		r.next()
		if r.peek(0).Kind == lex.Word {
			r.name = naming.Lower(r.word())
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
	refuse.If(r.at < len(r.tokens) || mutation && len(r.statements) == 0)
}

// resultType skips the type of the result after the head, as in query q(): [Person!]!.
func (r *rewriter) resultType() {
	if !r.accept(":") && !r.accept("->") && !r.accept("returns") && !r.accept("=", ">") && !r.accept("as") {
		return
	}
	for !r.is("{") {
		if t := r.next(); t.Kind != lex.Word && !strings.Contains("[]!?", t.Text) {
			panic(refuse.GiveUp{})
		}
	}
}

// headed reports whether the word query or mutation at the start of the text begins a head, which a
// brace or a parenthesis ends.
func (r *rewriter) headed() bool {
	i := 1
	if r.peek(i).Kind == lex.Word {
		i++
	}
	t := r.peek(i)
	return t.Kind == lex.Mark && (t.Text == "{" || t.Text == "(" || t.Text == "@")
}

// inBraces reads the fields of a document of GraphQL, or the body of a query.
func (r *rewriter) inBraces(mutation bool) {
	first, second := r.peek(0), r.peek(1)
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

// isSQL reports whether the text begins as a statement of SQL.
func (r *rewriter) isSQL() bool {
	start := r.at
	for lex.Tokens(r.tokens[start:]).Are("(") {
		start++
	}
	return lex.Tokens(r.tokens[start:]).One([]string{"select", "update", "with", "begin", "start"}) ||
		lex.Tokens(r.tokens[start:]).Are("insert", "into") || lex.Tokens(r.tokens[start:]).Are("delete", "from")
}

// dialect writes the tokens that only SQL has as those of the other languages: its forms of parameters, ARRAY before
// a list, and the statements around a transaction.
func (r *rewriter) dialect() {
	r.withoutArray()
	if !r.isSQL() {
		return
	}
	r.withoutTransaction()
	if !slices.ContainsFunc(r.tokens, func(t lex.Token) bool { return t.Are("match") }) { // in (:Person) a colon stands before a label
		r.namedPlaceholders()
	}
	r.numberedPlaceholders()
}

// withoutArray drops ARRAY before a list in brackets.
func (r *rewriter) withoutArray() {
	var out []lex.Token
	for i, t := range r.tokens {
		if !t.Are("array") || !lex.Tokens(r.tokens[i+1:]).Are("[") {
			out = append(out, t)
		}
	}
	r.tokens = out
}

// withoutTransaction drops BEGIN and COMMIT: the statements of a query are one commit.
func (r *rewriter) withoutTransaction() {
	if !r.isOne("begin", "start") {
		return
	}
	open := slices.IndexFunc(r.tokens, func(t lex.Token) bool { return t.Text == ";" })
	refuse.If(open < 0 || open > 2)
	rest := r.tokens[open+1:]
	if n := len(rest); n > 0 && rest[n-1].Text == ";" {
		rest = rest[:n-1]
	}
	if n := len(rest); n > 0 && rest[n-1].Are("commit") {
		rest = rest[:n-1]
	}
	r.tokens, r.at = rest, 0
}

// namedPlaceholders writes :name, @name and %(name)s as $name.
func (r *rewriter) namedPlaceholders() {
	var out []lex.Token
	for i := 0; i < len(r.tokens); i++ {
		t, rest := r.tokens[i], lex.Tokens(r.tokens[i+1:])
		before := lex.Token{}
		if i > 0 {
			before = r.tokens[i-1]
		}
		switch name := rest.At(0); {
		case t.Kind == lex.Mark && (t.Text == ":" || t.Text == "@") && name.Kind == lex.Word && !name.Space && before.Kind != lex.Dollar && (before.Kind == lex.Mark || t.Space):
			out = append(out, lex.Token{Kind: lex.Dollar, Text: name.Text, Space: t.Space})
			i++
		case t.Kind == lex.Mark && t.Text == "%" && rest.Are("(") && rest.At(1).Kind == lex.Word && rest.At(2).Text == ")" && rest.At(3).Are("s"):
			out = append(out, lex.Token{Kind: lex.Dollar, Text: rest.At(1).Text, Space: t.Space})
			i += 4
		default:
			out = append(out, t)
		}
	}
	r.tokens = out
}

// numberedPlaceholders gives the parameters $1 and ? names: p1 and the like.
func (r *rewriter) numberedPlaceholders() {
	names := map[string]string{} // by number
	var out []lex.Token
	asked := 0
	for i := 0; i < len(r.tokens); i++ {
		t, rest := r.tokens[i], lex.Tokens(r.tokens[i+1:])
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
	r.tokens = out
}
