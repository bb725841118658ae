package assist

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// Kind is the kind of a completion.
type Kind string

// The kinds of completions.
const (
	Function  Kind = "function"
	Field     Kind = "field"
	Variable  Kind = "variable"
	Node      Kind = "node"
	Interface Kind = "interface"
	Property  Kind = "property"
	Keyword   Kind = "keyword"
	Reference Kind = "reference" // an edge as a match writes it
	Struct    Kind = "struct"    // an edge or a scalar type
)

// Item is one completion. Completions with a lower rank come first.
type Item struct {
	Rank   int
	Label  string
	Kind   Kind
	Detail string
	Doc    string
}

// Complete lists what can be written at an offset of a source, and the offsets of the word that it replaces.
func (g Graph) Complete(name string, source *xref.Source, at int) (from, to int, items []Item) {
	c := &completer{graph: g, schema: g.Catalog, source: source, at: at}
	if c.schema == nil {
		c.schema = &catalog.Schema{}
		c.schema.Index()
	}
	c.context = xref.ContextAt(c.schema, name, source, at)
	switch {
	case c.context.InString:
	case strings.HasSuffix(name, ".pg"):
		c.types()
	default:
		c.query()
	}
	return c.context.From, c.context.To, c.items
}

// completer collects the completions of one position.
type completer struct {
	graph   Graph
	schema  *catalog.Schema
	source  *xref.Source
	at      int // the offset
	context xref.Context
	items   []Item
}

// add adds a completion.
func (c *completer) add(rank int, label string, kind Kind, detail, doc string) {
	if slices.ContainsFunc(c.items, func(i Item) bool { return i.Label == label && i.Kind == kind }) {
		return
	}
	c.items = append(c.items, Item{rank, label, kind, detail, doc})
}

// before returns the token that is n tokens before the word: 1 is the nearest.
func (c *completer) before(n int) syntax.Token {
	if i := len(c.context.Before) - n; i >= 0 {
		return c.context.Before[i]
	}
	return syntax.Token{}
}

// query completes a place in a query file.
func (c *completer) query() {
	last, ctx := c.before(1), &c.context
	switch {
	case ctx.Outside:
		c.words("query")
	case last.Value == "@" && ctx.Bracket == "(":
		c.annotations(syntax.ParamAnnotations())
	case last.Value == "@":
		c.annotations(syntax.QueryAnnotations())
	case ctx.Head && ctx.Bracket == "(" && last.Value == ":" && c.before(2).Type == syntax.Var:
		c.scalars()
		c.nodeTypes(1)
		c.interfaces(1)
	case ctx.Head && (ctx.Bracket == "[" || ctx.Bracket == "{" && last.Value == ":"):
		c.scalars()
	case ctx.Head && ctx.Bracket == "":
		c.words("match", "insert", "update", "delete")
	case ctx.Head:
	case last.Value == "match" && last.Type == syntax.Name:
		c.words("valid")
	case last.Value == "valid" && c.before(2).Value == "match":
		c.words("at", "during")
	case last.Value == "." && c.before(2).Value == ")" && c.before(3).Value == "(" && c.before(4).Value == syntax.ActorFunction:
		c.callerMembers()
	case last.Value == "." && c.before(2).Value == ")" && c.before(3).Type == syntax.Var && c.before(4).Value == "(" && c.before(5).Value == syntax.OriginFunction:
		c.originFacts()
	case last.Value == "." && c.before(2).Type == syntax.Var:
		c.propertiesOf(c.before(2))
	case ctx.Bracket == "{" && ctx.Type != "" && (last.Value == "{" || last.Value == ","):
		c.properties(ctx.Entity, ctx.Type, 0)
	case last.Value == ":" && c.before(2).Type == syntax.Var:
		c.nodeTypes(0)
		c.interfaces(0)
		c.edges(nil, 1)
	case slices.Contains([]string{"insert", "update", "delete", "upsert"}, last.Value) && last.Type == syntax.Name:
		c.nodeTypes(0)
		c.edgeTypes(0)
		if last.Value == "insert" {
			c.words("new")
		}
	case last.Value == "new" && c.before(2).Value == "insert":
		c.nodeTypes(0)
		c.edgeTypes(0)
	case last.Type == syntax.Var && c.context.From > EndOf(last) && !c.endsTraversal():
		c.afterVariable(last)
	case c.endsEdge(last):
		c.variables(0)
	default:
		c.expression()
	}
}

// EndOf returns the offset after a token.
func EndOf(t syntax.Token) int { return t.Pos.Offset + len(t.Value) }

// endsEdge reports whether the token is the edge of a traversal whose right end is still missing.
func (c *completer) endsEdge(t syntax.Token) bool {
	n := c.source.At(t.Pos.Offset)
	return t.Type == syntax.Name && n != nil && n.Kind == xref.Type && n.Entity == xref.Edge
}

// endsTraversal reports whether the nearest token, a variable, is the end of a traversal, so that another
// clause follows.
func (c *completer) endsTraversal() bool {
	before := c.before(2)
	return c.endsEdge(before) || before.Value == ">" || before.Value == "}" && c.before(3).Type == syntax.Int
}

// afterVariable completes what follows a variable: in a match an edge of its type or an operator, in an
// expression an operator.
func (c *completer) afterVariable(v syntax.Token) {
	var of *xref.Name
	if n := c.source.At(v.Pos.Offset); n != nil && (n.Entity == xref.Node || n.Entity == xref.Interface) && n.Type != "" {
		of = n
	}
	c.edges(of, 0)
	c.words("contains", "starts_with", "in", "matches", "is", "as", "asc", "desc")
}

// expression completes the start of a clause, a statement or an expression.
func (c *completer) expression() {
	if ctx := &c.context; ctx.Type != "" {
		rank := 2
		if ctx.Bracket != "{" || ctx.Type == "" {
			rank = 0
		}
		c.properties(ctx.Entity, ctx.Type, rank)
	}
	c.variables(0)
	c.columns(1)
	for _, a := range plan.Aggregates {
		_, doc := describeFunction(a.Name)
		c.add(3, a.Name, Function, "aggregate", doc)
	}
	for _, name := range append(slices.Clone(syntax.Functions), append(syntax.LiteralFunctions(), "now", syntax.ActorFunction, syntax.OriginFunction)...) {
		usage, doc := describeFunction(name)
		c.add(3, name, Function, usage, doc)
	}
	for _, word := range syntax.QueryWords() {
		if !slices.Contains(notInBodies(), word) {
			c.add(4, word, Keyword, "", "")
		}
	}
}

// notInBodies returns the words of the grammar that occur only in the head of a query or between `match` and its braces, and the words that
// are functions.
func notInBodies() []string {
	words := []string{"query", "mcp", "expose", "idempotent", "tool_name", "title", "description", "instruction", "question", "must_be_empty", "check", "default", "example", "range", "enum", "valid", "at", "during"}
	return append(words, append(syntax.LiteralFunctions(), "now", syntax.ActorFunction, syntax.OriginFunction)...)
}

// words adds keywords. It omits a word that is not in the grammar.
func (c *completer) words(words ...string) {
	known := slices.Concat(syntax.QueryWords(), syntax.SchemaWords())
	for _, w := range words {
		if slices.Contains(known, w) {
			c.add(4, w, Keyword, "", "")
		}
	}
}

// annotations adds annotations, which the table lists with @. The @ is already written.
func (c *completer) annotations(names []string) {
	for _, name := range names {
		c.add(0, strings.TrimPrefix(name, "@"), Keyword, name, "")
	}
}

// scalars adds the scalar types.
func (c *completer) scalars() {
	for _, k := range value.Kinds() {
		detail := "scalar type"
		switch k { // their types need numbers
		case value.Decimal:
			detail += ", such as Decimal(12, 2)"
		case value.Vector:
			detail += ", such as Vector(384)"
		}
		c.add(0, k.String(), Struct, detail, "")
	}
}

// nodeTypes adds the node types.
func (c *completer) nodeTypes(rank int) {
	for _, n := range c.schema.Nodes {
		c.add(rank, n.Name, Node, "node", n.Description)
	}
}

// interfaces adds the interfaces.
func (c *completer) interfaces(rank int) {
	for _, i := range c.schema.Interfaces {
		c.add(rank, i.Name, Interface, "interface", "")
	}
}

// edgeTypes adds the edge types as statements write them.
func (c *completer) edgeTypes(rank int) {
	for _, e := range c.schema.Edges {
		c.add(rank, e.Name, Struct, "edge "+e.From+" -> "+e.To, e.Description)
	}
}

// edges adds the edges as a match writes them: those of the type of the variable `of` first, unless it is nil.
func (c *completer) edges(of *xref.Name, rank int) {
	ends := func(e *catalog.Edge, to bool) bool {
		return c.schema.AtEnd(e, to, of.Type, of.Entity == xref.Interface)
	}
	for _, e := range c.schema.Edges {
		at := rank
		if of != nil && !ends(e, false) && !ends(e, true) {
			at = rank + 1
		}
		c.add(at, xref.EdgeName(e.Name), Reference, e.From+" -> "+e.To, e.Description)
	}
}

// propertiesOf adds the properties of a variable, or the fields if it stands for a record.
func (c *completer) propertiesOf(v syntax.Token) {
	if fields := c.source.Fields(v); fields != nil {
		for _, f := range fields {
			c.add(0, f.Name, Field, f.Type, "")
		}
		return
	}
	n := c.source.At(v.Pos.Offset)
	if n == nil || n.Type == "" {
		return
	}
	c.properties(n.Entity, n.Type, 0)
	c.add(1, "id", Field, "String", "")
	if n.Entity == xref.Edge {
		c.ends(n.Type, 1)
	}
}

// callerMembers adds the members of actor().
func (c *completer) callerMembers() {
	claims := c.graph.Claims
	for i, name := range claims.Members() {
		t, _ := claims.TypeOf(name)
		c.add(min(i, 2), name, Field, t.String(), "")
	}
}

// originFacts adds the facts about the origin of an entity.
func (c *completer) originFacts() {
	for i, f := range plan.OriginFacts() {
		c.add(min(i, 2), f.String(), Field, f.Type().String(), "")
	}
}

// ends adds the names of the two ends of an edge.
func (c *completer) ends(edge string, rank int) {
	e := c.schema.Edge(edge)
	for _, name := range []string{"from", "to"} {
		detail := "String"
		if e != nil {
			if at, shared := e.End(name == "to"); shared {
				detail = at
			}
		}
		c.add(rank, name, Field, detail, "")
	}
}

// properties adds the properties of a type.
func (c *completer) properties(entity xref.Entity, typ string, rank int) {
	var list []*catalog.Property
	switch entity {
	case xref.Node:
		if n := c.schema.Node(typ); n != nil {
			list = n.Properties
		}
	case xref.Edge:
		if e := c.schema.Edge(typ); e != nil {
			list = e.Properties
		}
		if c.context.Bracket == "{" || c.context.Type != "" {
			c.ends(typ, rank)
		}
	case xref.Interface:
		if i := c.schema.Interface(typ); i != nil {
			list = i.Common()
		}
	case xref.NoEntity:
	}
	for _, p := range list {
		c.add(rank, p.Name, Property, p.Type.String(), p.Description)
	}
}

// variables adds the variables and the parameters of the query.
func (c *completer) variables(rank int) {
	for _, n := range c.source.InQuery(c.at) {
		if n.Kind != xref.Variable && n.Kind != xref.Parameter || n.Value == "$_" {
			continue
		}
		if n.Pos.Offset == c.context.From {
			continue // the word that is being written
		}
		detail := n.Type
		if n.Kind == xref.Parameter {
			detail = strings.TrimSpace("parameter " + n.Type)
		}
		c.add(rank, n.Value, Variable, detail, "")
	}
}

// columns adds the columns that the query declares with `as`.
func (c *completer) columns(rank int) {
	for _, n := range c.source.InQuery(c.at) {
		if n.Kind == xref.Column && n.Decl {
			c.add(rank, n.Value, Field, "column", "")
		}
	}
}

// types completes a place in a schema.
func (c *completer) types() {
	last, ctx := c.before(1), &c.context
	switch {
	case ctx.Outside && last.Value != "@":
		c.words("node", "edge", "interface")
		if last.Value == "" {
			break
		}
		c.words("implements")
	case last.Value == "@" && ctx.Bracket == "{":
		c.annotations(resolve.PropertyAnnotations())
		c.annotations([]string{"@range", "@check"})
	case last.Value == "@":
		c.annotations(resolve.TypeAnnotations())
		if ctx.Entity == xref.Edge {
			c.annotations([]string{"@card"})
		}
	case ctx.Bracket == "{" && last.Value == ":":
		c.scalars()
		c.words("enum")
	case ctx.Bracket == "[":
		c.scalars()
	case ctx.Bracket == "(" && slices.Contains([]string{"key", "unique", "index", "range", "check", "embed", "valid"}, ctx.Word):
		c.declared()
	case ctx.Bracket == "" && (last.Value == ":" || last.Value == "->"):
		c.nodeTypes(0)
		c.interfaces(1)
	case ctx.Bracket == "" && (last.Value == "implements" || last.Value == ","):
		c.interfaces(0)
	case ctx.Bracket == "":
		c.words("implements")
	}
}

// declared adds the properties that the type declares or inherits.
func (c *completer) declared() {
	c.properties(c.context.Entity, c.context.Type, 0)
	for i := range c.source.Names {
		if n := &c.source.Names[i]; n.Kind == xref.Property && n.Decl && n.Type == c.context.Type && n.Entity == c.context.Entity {
			c.add(0, n.Value, Property, "", "")
		}
	}
	if c.context.Entity == xref.Edge && c.context.Word != "valid" {
		c.add(1, "src", Field, "the node that the edge starts at", "")
		c.add(1, "dst", Field, "the node that the edge leads to", "")
	}
}
