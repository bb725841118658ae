package xref

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Context is the surroundings of an offset, for completion.
type Context struct {
	From, To int            // the offsets of the word at the offset; equal if there is none
	Prefix   string         // the part of the word before the offset
	Before   []syntax.Token // the tokens before the word, the nearest one last; those of the declaration only

	InString bool   // the offset is within a string or a comment
	Outside  bool   // the offset is in no declaration
	Head     bool   // in a query: before its body
	Bracket  string // the innermost open bracket, or ""
	Word     string // the keyword, the function or the annotation before that bracket, or ""
	Entity   Entity // of Type
	Type     string // the type whose properties are in the bracket or in the condition of a statement
}

// ContextAt returns the surroundings of an offset in a source that Read has read.
func ContextAt(s *catalog.Schema, name string, src *Source, offset int) Context {
	s = orEmpty(s)
	c := Context{From: offset, To: offset}
	n := 0 // the number of tokens before the word
	for n < len(src.Tokens) && src.Tokens[n].Pos.Offset+len(src.Tokens[n].Value) < offset {
		n++
	}
	if t := at(src.Tokens, n); t.Value != "" && t.Pos.Offset < offset {
		end := t.Pos.Offset + len(t.Value)
		switch {
		case isName(t):
			c.From, c.To, c.Prefix = t.Pos.Offset, end, t.Value[:offset-t.Pos.Offset]
		case t.Type == syntax.String && offset < end:
			c.InString = true
			return c
		default:
			n++
		}
	}
	for _, comment := range src.Comments {
		if comment.Span.Start.Offset < offset && offset <= comment.Span.End.Offset {
			c.InString = true
			return c
		}
	}
	before := src.Tokens[:n]
	if src.opensString(before, offset) {
		c.InString = true
		return c
	}
	if strings.HasSuffix(name, ".pg") {
		c.schema(before)
	} else {
		c.query(s, src.fromQuery(before, offset))
	}
	return c
}

// fromQuery returns the tokens from the query around an offset on, because earlier ones do not matter.
func (s *Source) fromQuery(before []syntax.Token, offset int) []syntax.Token {
	n := s.Query(offset)
	if n == nil {
		return before
	}
	i, _ := slices.BinarySearchFunc(before, n.Pos.Offset, func(t syntax.Token, at int) int { return t.Pos.Offset - at })
	return before[min(max(i-1, 0), len(before)):] // the word `query` is before the name
}

// opensString reports whether a quote before an offset opens a string that is not closed. No token
// contains such a quote.
func (s *Source) opensString(before []syntax.Token, offset int) bool {
	from := 0
	if n := len(before); n > 0 {
		from = before[n-1].Pos.Offset + len(before[n-1].Value)
	}
	for _, c := range s.Comments {
		if end := c.Span.End.Offset; end > from && end <= offset {
			from = end
		}
	}
	return from < offset && strings.Contains(s.Text[from:offset], `"`)
}

// schema fills in the context from the tokens of a schema before the word.
func (c *Context) schema(before []syntax.Token) {
	r := readSchema(before)
	c.Outside = r.entity == NoEntity || r.closed
	c.Entity, c.Type, c.Bracket = r.entity, r.typ, r.inside()
	if c.Bracket != "" && c.Bracket != "{" && c.Bracket != "[" {
		c.Bracket, c.Word = "(", c.Bracket
	}
	c.Before = before[min(r.start, len(before)):]
}

// query fills in the context from the tokens of a query file before the word.
func (c *Context) query(s *catalog.Schema, before []syntax.Token) {
	r := readQueries(s, before)
	inside := r.inside()
	c.Outside = r.parents == nil || !r.head && len(r.brackets) == 0
	c.Head, c.Bracket, c.Word = r.head, inside.text, inside.word
	typ := inside.typ
	if typ == "" && r.inWhere() {
		typ = r.statement
	}
	c.Entity, c.Type = r.entityOf(typ)
	for i := len(before) - 1; i >= 0 && !c.Outside; i-- {
		if before[i].Pos.Offset == r.query {
			c.Before = before[i:]
			return
		}
	}
}
