package syntax

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// maxNesting bounds the nesting of brackets, because parsing takes stack for each level.
const maxNesting = 256

// declaration is a run of tokens that starts with a keyword.
type declaration struct {
	tokens  []Token // from the keyword on
	end     int     // offset of the next declaration
	stray   []Token // all tokens from the first one between this declaration and the next on, or nil
	tooDeep bool    // it is nested too deeply to be parsed
}

// head returns the number of tokens in the declaration of a type, or before the body of a query.
// The grammar library parses these tokens without checking the meter.
func (d *declaration) head() int {
	if d.tokens[0].Value != "query" {
		return len(d.tokens)
	}
	for i, t := range d.tokens {
		if t.Type == Punct && t.Value == "{" {
			return i
		}
	}
	return len(d.tokens)
}

// declarations splits the tokens into top-level declarations and reports text before the first
// one.
//
// A declaration ends with its closing brace, or at a keyword outside all brackets. A keyword
// inside brackets also starts a new declaration if it is at the start of its line and the tokens
// after it look like a declaration. In this case, a closing bracket is missing in the declaration
// before the keyword.
func (p *parser) declarations() []*declaration {
	var out []*declaration
	var d *declaration
	start, depth, closed := 0, 0, false
	foreign := false
	finish := func(i int) {
		if d != nil && !closed {
			d.tokens = p.tokens[start:i:i]
		}
	}
	for i, t := range p.tokens {
		p.meter.Step(1)
		switch {
		case p.startsDeclaration(i, d != nil && !closed && i == start+1, depth):
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
				foreign = p.reportForeign(p.tokens)
			}
			continue
		case closed:
			if d.stray == nil {
				d.stray = p.tokens[i:]
			}
			continue
		case t.Type != Punct:
			continue
		}
		switch t.Value {
		case "{", "(", "[":
			if depth++; depth > maxNesting && !d.tooDeep {
				d.tooDeep = true
				p.fault(TooDeep, SpanOf(t), "nest fewer brackets", "brackets are nested more than %d levels deep", maxNesting)
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
	if foreign {
		p.dropForeignFaults(out)
	}
	return out
}

// dropForeignFaults drops the scanner's errors about characters in text of another language, up to
// the first declaration. One report for that text is enough.
func (p *parser) dropForeignFaults(decls []*declaration) {
	from, to := p.tokens[0].Pos.Offset, math.MaxInt
	if len(decls) > 0 {
		to = decls[0].tokens[0].Pos.Offset
	}
	p.faults = slices.DeleteFunc(slices.Clone(p.faults), func(d diag.Diagnostic) bool {
		return d.Code == BadCharacter && from < d.Span.Start.Offset && d.Span.Start.Offset < to
	})
}

// reportForeign reports the first of the tokens, because it does not start a declaration. The
// result says whether the token is known to start a declaration in another language.
func (p *parser) reportForeign(tokens []Token) bool {
	t := tokens[0]
	pl := place{found: t, after: tokens[1:], in: inQueries, opener: -1, closed: -1}
	if len(p.keywords) > 1 {
		pl.in = inSchema
	}
	help, _ := hintFor(pl)
	known := help != ""
	if !known {
		help = diag.DidYouMean(t.Value, p.keywords)
	}
	p.fault(Unexpected, SpanOf(t), help, "unexpected %s, want %s", quoteToken(t), or(quoted(p.keywords)))
	return known
}

// startsDeclaration reports whether token i starts a declaration. isName says that token i is the
// second token of a declaration. It is then the declaration's name, even if it is a keyword.
func (p *parser) startsDeclaration(i int, isName bool, depth int) bool {
	t := p.tokens[i]
	if t.Type != Name || isName || !slices.Contains(p.keywords, t.Value) {
		return false
	}
	return depth == 0 || t.Pos.Column == 1 && beginsDeclaration(p.tokens[i:])
}

// beginsDeclaration reports whether the tokens begin like a declaration, for example `query name (`
// or `node Type`.
func beginsDeclaration(tokens []Token) bool {
	if len(tokens) < 3 || tokens[2].Type == Name && tokens[0].Value == "query" {
		return false
	}
	if tokens[0].Value == "query" {
		return tokens[1].Type == Name && tokens[2].Value == "("
	}
	return tokens[1].Type == TypeName
}

// garbledIn returns the offset of the first lexical error in a declaration, or -1.
func (p *parser) garbledIn(d *declaration) int {
	i, _ := slices.BinarySearch(p.garbled, d.tokens[0].Pos.Offset)
	if i < len(p.garbled) && p.garbled[i] < d.end {
		return p.garbled[i]
	}
	return -1
}
