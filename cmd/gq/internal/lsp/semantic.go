package lsp

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/highlight"
	"github.com/omnigraph-go/omnigraph/internal/gq/assist"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// tokenTypes and tokenModifiers are the legend of semantic tokens. The tokens refer to them by index.
var (
	tokenTypes     = highlight.SemanticTypes()
	tokenModifiers = []string{"declaration", "defaultLibrary"}
)

// The bits of the modifiers.
const (
	modDeclaration    = 1 << 0
	modDefaultLibrary = 1 << 1
)

// piece is a part of a text with a class.
type piece struct {
	from, to  int
	class     highlight.Class
	modifiers uint32
}

// semanticTokens classifies all tokens and comments of a document. A token is five numbers: its line and its character,
// both relative to the token before, its length, the index of its type in tokenTypes, and its modifiers.
func (s *server) semanticTokens(p *documentParams) (*semanticTokens, error) {
	out := &semanticTokens{Data: []uint32{}}
	d := s.document(p.TextDocument.URI)
	g := s.graphOf(d)
	if g == nil {
		return out, nil
	}
	src, t := s.names(g, d.path)
	var line, character uint32
	for _, piece := range pieces(src) {
		// A token must not span lines, so a comment or a string of several lines becomes several
		// tokens.
		for from := piece.from; from < piece.to; {
			at := t.position(from)
			_, end := t.line(int(at.Line))
			end = min(end, piece.to)
			if end > from {
				delta := at.Line - line
				if delta > 0 {
					character = 0
				}
				out.Data = append(out.Data, delta, at.Character-character, t.position(end).Character-at.Character,
					uint32(slices.Index(tokenTypes, highlight.Semantic(piece.class))), piece.modifiers)
				line, character = at.Line, at.Character
			}
			if int(at.Line)+1 >= len(t.lines) {
				break
			}
			from = max(t.lines[at.Line+1], end)
		}
	}
	return out, nil
}

// pieces returns the classified parts of a source in order.
func pieces(src *xref.Source) []piece {
	var out []piece
	name := 0
	for i, t := range src.Tokens {
		p := piece{from: t.Pos.Offset, to: assist.EndOf(t)}
		for name < len(src.Names) && src.Names[name].Pos.Offset < p.from {
			name++
		}
		ok := true
		if name < len(src.Names) && src.Names[name].Pos.Offset == p.from {
			p.class, p.modifiers = classOf(&src.Names[name])
		} else {
			p.class, ok = punctuationClass(src.Tokens, i)
		}
		if ok {
			out = append(out, p)
		}
	}
	for _, c := range src.Comments {
		out = append(out, piece{from: c.Span.Start.Offset, to: c.Span.Start.Offset + len(strings.TrimRight(c.Text, "\r\n")), class: highlight.Comment})
	}
	slices.SortFunc(out, func(a, b piece) int { return a.from - b.from })
	return out
}

// classes maps the kinds of names to classes.
var classes = map[xref.Kind]highlight.Class{
	xref.Keyword: highlight.Keyword, xref.Scalar: highlight.Scalar, xref.Property: highlight.Property,
	xref.Variable: highlight.Variable, xref.Parameter: highlight.Parameter, xref.Query: highlight.Query,
	xref.Function: highlight.Function, xref.Column: highlight.Column, xref.Annotation: highlight.Annotation,
	xref.Argument: highlight.Argument, xref.EnumValue: highlight.EnumValue, xref.Unknown: highlight.Column,
}

// classOf returns the class of a name and its modifiers.
func classOf(n *xref.Name) (class highlight.Class, modifiers uint32) {
	class = classes[n.Kind]
	if n.Kind == xref.Type {
		class = highlight.NodeType
		switch n.Entity {
		case xref.Edge:
			class = highlight.EdgeType
		case xref.Interface:
			class = highlight.Interface
		}
	}
	if n.Decl {
		modifiers |= modDeclaration
	}
	if n.Kind == xref.Function || n.Kind == xref.Scalar {
		modifiers |= modDefaultLibrary
	}
	return class, modifiers
}

// punctuationClass returns the class of token i, which is not a name. Brackets and commas have none.
func punctuationClass(tokens []syntax.Token, i int) (highlight.Class, bool) {
	t := tokens[i]
	switch t.Type {
	case syntax.String:
		return highlight.String, true
	case syntax.Int, syntax.Float:
		return highlight.Number, true
	case syntax.Relation:
		return highlight.Operator, true
	}
	switch t.Value {
	case "+", "-", "*", "/", "%", "->", "..", "|":
		return highlight.Operator, true
	case "@":
		return highlight.Annotation, true
	}
	return highlight.Operator, false
}
