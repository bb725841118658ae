package syntax

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"golang.org/x/sync/errgroup"

	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/work"
)

// maxNesting bounds the nesting of brackets, because parsing takes stack for each level.
const maxNesting = 256

type parser struct {
	tokens   []Token
	keywords []string // the keywords that start a declaration
	garbled  []int    // see scanner.garbled
	faults   diag.List
	found    int // number of errors, including the unlisted ones
	steps    int // visits of tokens and nodes, without those inside the grammar library
	meter    *work.Meter
}

// step adds n visits of tokens and nodes to the count.
func (p *parser) step(n int) {
	p.steps += n
	p.meter.Step(n)
}

func newParser(s *scanner, keywords ...string) *parser {
	return &parser{tokens: s.tokens, keywords: keywords, garbled: s.garbled, faults: s.faults[:len(s.faults):len(s.faults)], steps: s.steps, meter: s.meter}
}

func (p *parser) result() diag.List {
	p.faults.Sort()
	return p.faults.Cut(diag.Most)
}

// batch is the number of declarations that one goroutine parses at a time. It is large enough to
// make the cost of scheduling negligible.
const batch = 32

// eachOf parses declarations, several batches concurrently, and returns the results of parse in
// the order of the declarations. The errors and their order do not depend on the number of
// processors. With a meter, it parses everything on the calling goroutine, because a meter is
// not safe for concurrent use.
func eachOf[D any](p *parser, decls []*declaration, parse func(*parser, *declaration) D) []D {
	out := make([]D, len(decls))
	parts := make([]parser, (len(decls)+batch-1)/batch)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		part := &parts[i]
		*part = parser{keywords: p.keywords, garbled: p.garbled, meter: p.meter}
		run := func() error {
			for j := i * batch; j < min((i+1)*batch, len(decls)); j++ {
				out[j] = parse(part, decls[j])
			}
			return nil
		}
		if len(parts) == 1 || p.meter != nil {
			run()
			continue
		}
		g.Go(run)
	}
	g.Wait()
	for i := range parts {
		p.faults = append(p.faults, parts[i].faults...)
		p.steps += parts[i].steps
	}
	return out
}

func (p *parser) fault(code diag.Code, at diag.Span, help, format string, args ...any) {
	p.found++
	if !p.full() {
		p.faults = append(p.faults, diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
	}
}

// full reports whether there are already more errors than are listed. Further messages need not
// be formatted.
func (p *parser) full() bool { return len(p.faults) > diag.Most }

// declaration is a run of tokens that starts with a keyword.
type declaration struct {
	tokens []Token
	end    int     // offset of the next declaration
	stray  []Token // tokens from the first one between this declaration and the next, or nil
	deep   bool    // it is nested too deeply to be parsed
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
// after it are those of a declaration. The declaration before it then lacks a closing bracket.
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
		p.step(1)
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
				foreign = p.foreign(p.tokens)
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
	if foreign {
		p.forget(out)
	}
	return out
}

// forget drops the scanner's errors about characters in text of another language, up to the
// first declaration. One report for that text is enough.
func (p *parser) forget(decls []*declaration) {
	from, to := p.tokens[0].Pos.Offset, math.MaxInt
	if len(decls) > 0 {
		to = decls[0].tokens[0].Pos.Offset
	}
	p.faults = slices.DeleteFunc(slices.Clone(p.faults), func(d diag.Diagnostic) bool {
		return d.Code == BadCharacter && from < d.Span.Start.Offset && d.Span.Start.Offset < to
	})
}

// foreign reports the first of the tokens, which does not start a declaration. The result says
// whether it is known as a start in another language.
func (p *parser) foreign(tokens []Token) bool {
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
	p.fault(Unexpected, SpanOf(t), help, "unexpected %s, want %s", show(t), or(quoted(p.keywords)))
	return known
}

// opens reports whether token i starts a declaration. isName says that token i is the second
// token of a declaration. It is then the declaration's name, even if it is a keyword.
func (p *parser) opens(i int, isName bool, depth int) bool {
	t := p.tokens[i]
	if t.Type != Name || isName || !slices.Contains(p.keywords, t.Value) {
		return false
	}
	return depth == 0 || t.Pos.Column == 1 && headed(p.tokens[i:])
}

// headed reports whether the tokens begin like a declaration, for example query name ( or node
// Type.
func headed(tokens []Token) bool {
	if len(tokens) < 3 || tokens[2].Type == Name && tokens[0].Value == "query" {
		return false
	}
	if tokens[0].Value == "query" {
		return tokens[1].Type == Name && tokens[2].Value == "("
	}
	return tokens[1].Type == TypeName
}

// parseOne parses a declaration with its grammar. If the declaration has an error, parseOne
// reports it and ok is false.
func parseOne[G any](p *parser, pick func(*grammar) func() *participle.Parser[G], d *declaration) (node *G, ok bool) {
	if d.deep {
		return nil, false
	}
	g := plainGrammar
	if p.meter != nil && len(d.tokens) > unmetered {
		p.meter.Head(d.head())
		g = takeGrammar(p.meter)
		defer g.giveBack()
	}
	garbled := p.garbledIn(d)
	node, err := pick(g)().ParseFromLexer(peeking(p.meter, d.tokens), trace...)
	p.step(len(d.tokens))
	if err == nil {
		if d.stray != nil && garbled < 0 {
			p.foreign(d.stray)
		}
		return node, garbled < 0
	}
	if !p.full() {
		p.explain(err, d, garbled)
	}
	return nil, false
}

// trace is empty, except in the test that counts the steps of the grammar library.
var trace []participle.ParseOption

// explain reports why the parser rejected a declaration.
func (p *parser) explain(err error, d *declaration, garbled int) {
	at := SpanOf(d.tokens[0])
	var help, msg string
	var u *participle.UnexpectedTokenError
	var e participle.Error
	switch {
	case errors.As(err, &u):
		pl := placeIn(d.tokens, u.Unexpected)
		p.step(len(d.tokens))
		want := wanted(u)
		if want == "" && pl.wantsType() {
			want = ", want a type"
		}
		pl.want = want
		var blamed Token
		help, blamed = hintFor(pl)
		if blamed.Pos != u.Unexpected.Pos {
			want = ""
		}
		at, msg = SpanOf(blamed), "unexpected "+show(blamed)+want
	case errors.As(err, &e):
		at.Start, msg = posOf(e.Position()), e.Message()
		at.End = at.Start
	default:
		msg = err.Error()
	}
	// After a character that forms no token, or a string without an end, the tokens are
	// meaningless. The scanner has already reported that error.
	if garbled < 0 || at.Start.Offset < garbled && !(u != nil && u.Unexpected.EOF()) {
		p.fault(Unexpected, at, help, "%s", msg)
	}
}

// garbledIn returns the offset of the first lexical error in a declaration, or -1.
func (p *parser) garbledIn(d *declaration) int {
	i, _ := slices.BinarySearch(p.garbled, d.tokens[0].Pos.Offset)
	if i < len(p.garbled) && p.garbled[i] < d.end {
		return p.garbled[i]
	}
	return -1
}

// peeking returns a lexer over the tokens. Its end-of-file token is right after the last one.
func peeking(m *work.Meter, tokens []Token) *lexer.PeekingLexer {
	last := tokens[len(tokens)-1]
	end := endOf(last)
	lex, _ := lexer.Upgrade(&tokenList{meter: m, tokens: tokens, end: lexer.EOFToken(lexer.Position{
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
