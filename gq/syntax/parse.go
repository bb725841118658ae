package syntax

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/gq/diag"
)

// maxNesting is how deep brackets may nest: parsing takes stack for each level.
const maxNesting = 256

type parser struct {
	tokens   []Token
	keywords []string // that start a declaration
	lexical  diag.List
	faults   diag.List
}

func newParser(s *scanner, keywords ...string) *parser {
	return &parser{tokens: s.tokens, keywords: keywords, lexical: s.faults, faults: s.faults[:len(s.faults):len(s.faults)]}
}

func (p *parser) result() diag.List {
	p.faults.Sort()
	return p.faults
}

func (p *parser) fault(code diag.Code, at diag.Span, help, format string, args ...any) {
	p.faults = append(p.faults, diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// declaration is a run of tokens that starts with a keyword.
type declaration struct {
	tokens []Token
	end    int    // offset of the next declaration
	stray  *Token // the first token between this declaration and the next, if any
	deep   bool   // it nests too deep to be parsed
}

// declarations cuts the tokens into top-level declarations and reports what stands
// before the first.
//
// A declaration ends with its brace, or where a keyword stands outside all brackets.
// A keyword inside starts the next one too if it is the first thing on its line and
// is followed as only a declaration's is: then the one before lacks a bracket.
func (p *parser) declarations() []*declaration {
	var out []*declaration
	var d *declaration
	start, depth, closed := 0, 0, false
	finish := func(i int) {
		if d != nil && !closed {
			d.tokens = p.tokens[start:i:i]
		}
	}
	for i, t := range p.tokens {
		switch {
		case p.opens(i, d != nil && !closed && i == start+1, depth):
			finish(i)
			if d != nil {
				d.end = t.Pos.Offset
			}
			d = &declaration{end: math.MaxInt}
			out = append(out, d)
			start, depth, closed = i, 0, false
			continue
		case d == nil:
			if i == 0 {
				p.fault(Unexpected, SpanOf(t), diag.DidYouMean(t.Value, p.keywords), "unexpected %s, want %s", show(t), or(quoted(p.keywords)))
			}
			continue
		case closed:
			if d.stray == nil {
				d.stray = &p.tokens[i]
			}
			continue
		case t.Type != Punct:
			continue
		}
		switch t.Value {
		case "{", "(", "[":
			if depth++; depth > maxNesting && !d.deep {
				d.deep = true
				p.fault(TooDeep, SpanOf(t), "split it up", "nesting deeper than %d levels", maxNesting)
			}
		case "}", ")", "]":
			depth = max(depth-1, 0)
			if depth == 0 && t.Value == "}" {
				finish(i + 1)
				closed = true
			}
		}
	}
	finish(len(p.tokens))
	return out
}

// opens reports whether token i starts a declaration. The second token of one is its
// name, whatever it is.
func (p *parser) opens(i int, isName bool, depth int) bool {
	t := p.tokens[i]
	if t.Type != Name || isName || !slices.Contains(p.keywords, t.Value) {
		return false
	}
	return depth == 0 || t.Pos.Column == 1 && headed(p.tokens[i:])
}

// headed reports whether tokens begin like a declaration: query name (, node Type {
// and so on.
func headed(tokens []Token) bool {
	if len(tokens) < 3 || tokens[2].Type == Name && tokens[0].Value == "query" {
		return false
	}
	if tokens[0].Value == "query" {
		return tokens[1].Type == Name && tokens[2].Value == "("
	}
	return tokens[1].Type == TypeName
}

// parseOne parses a declaration with its grammar. ok is false when it is broken, and
// that has been reported.
func parseOne[G any](p *parser, g *participle.Parser[G], d *declaration) (node *G, ok bool) {
	if d.deep {
		return nil, false
	}
	garbled := p.garbled(d)
	node, err := g.ParseFromLexer(peeking(d.tokens))
	if err == nil {
		if d.stray != nil && garbled < 0 {
			p.fault(Unexpected, SpanOf(*d.stray), diag.DidYouMean(d.stray.Value, p.keywords), "unexpected %s, want %s", show(*d.stray), or(quoted(p.keywords)))
		}
		return node, garbled < 0
	}
	at := SpanOf(d.tokens[0])
	help, msg := "", err.Error()
	var u *participle.UnexpectedTokenError
	var e participle.Error
	switch {
	case errors.As(err, &u):
		at, help = SpanOf(u.Unexpected), helpFor(u.Unexpected)
		msg = "unexpected " + show(u.Unexpected) + wanted(u)
	case errors.As(err, &e):
		at.Start, msg = posOf(e.Position()), e.Message()
		at.End = at.Start
	}
	// After a character that is no token, or a string without an end, the tokens make
	// no sense, and the fault has been reported.
	if garbled < 0 || at.Start.Offset < garbled && !(u != nil && u.Unexpected.EOF()) {
		p.fault(Unexpected, at, help, "%s", msg)
	}
	return nil, false
}

// garbled returns the offset of the first lexical fault in a declaration, or -1.
func (p *parser) garbled(d *declaration) int {
	for _, f := range p.lexical {
		if off := f.Span.Start.Offset; off >= d.tokens[0].Pos.Offset && off < d.end {
			return off
		}
	}
	return -1
}

// peeking hands tokens to a parser, with an end that stands right after the last one.
func peeking(tokens []Token) *lexer.PeekingLexer {
	last := tokens[len(tokens)-1]
	end := endOf(last)
	lex, _ := lexer.Upgrade(&tokenList{tokens: tokens, end: lexer.EOFToken(lexer.Position{
		Filename: last.Pos.Filename, Offset: end.Offset, Line: end.Line, Column: end.Column,
	})})
	return lex
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "`" + w + "`"
	}
	return out
}
