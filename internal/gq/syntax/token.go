package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Token is a lexical unit. Its Value is the source text, including quotes and escapes.
type Token = lexer.Token

// The kinds of token.
const (
	Name     lexer.TokenType = iota + 1 // an identifier that starts with a lower-case letter or _; keywords too
	TypeName                            // an identifier that starts with an upper-case letter
	Var                                 // $name, or $_
	Int                                 // digits with an optional leading -
	Float                               // digits, a point and digits, with an optional leading -
	String                              // in double quotes
	Relation                            // = != < <= > >=
	Punct                               // everything else
)

// symbols maps the names of tokens in grammars to their types.
var symbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Name": Name, "TypeName": TypeName, "Var": Var, "Int": Int, "Float": Float, "String": String,
	"Relation": Relation, "Punct": Punct,
}

// Comment is a comment with its delimiters.
type Comment struct {
	Span diag.Span
	Text string // with its delimiters
}

// Range holds the tokens of a node. It is never empty.
type Range struct{ Tokens []Token }

// Span returns the span of the node's text.
func (r Range) Span() diag.Span {
	s := SpanOf(r.Tokens[0])
	s.End = endOf(r.Tokens[len(r.Tokens)-1])
	return s
}

// SpanOf returns the span of one token.
func SpanOf(t Token) diag.Span {
	return diag.Span{File: t.Pos.Filename, Start: posOf(t.Pos), End: endOf(t)}
}

// Text returns the value of a String token, without quotes and escapes.
func Text(t Token) string {
	s := t.Value[1 : len(t.Value)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		default: // the quote and the backslash; the scanner has rejected other escapes
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// posOf converts a position of the library.
func posOf(p lexer.Position) diag.Pos {
	return diag.Pos{Offset: p.Offset, Line: p.Line, Column: p.Column}
}

// endOf returns the position after a token.
func endOf(t Token) diag.Pos {
	p := diag.Pos{Offset: t.Pos.Offset + len(t.Value), Line: t.Pos.Line}
	if t.Type != String {
		p.Column = t.Pos.Column + len(t.Value) // every other token is ASCII
		return p
	}
	nl := strings.LastIndexByte(t.Value, '\n')
	if nl < 0 {
		p.Column = t.Pos.Column + utf8.RuneCountInString(t.Value)
		return p
	}
	p.Line += strings.Count(t.Value, "\n")
	p.Column = utf8.RuneCountInString(t.Value[nl:])
	return p
}
