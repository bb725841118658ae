package syntax

import (
	"fmt"
	"runtime"

	"github.com/alecthomas/participle/v2"
	"golang.org/x/sync/errgroup"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// ParseSchema parses a .pg text. It reports every declaration that does not follow the grammar
// and returns the others.
func ParseSchema(file, text string) (*Schema, diag.List) {
	return ParseSchemaWithin(nil, file, text)
}

// ParseSchemaWithin is ParseSchema on one goroutine with a meter, which may panic to end the
// parsing.
func ParseSchemaWithin(m *work.Meter, file, text string) (*Schema, diag.List) {
	s := scan(m, file, text)
	schema := &Schema{Name: file, Text: text, Comments: s.comments}
	p := newParser(s, "interface", "node", "edge")
	decls := p.declarations()
	for i, d := range parseEach(p, decls, parseDecl) {
		if d != nil {
			schema.Decls = append(schema.Decls, d)
		} else if toks := decls[i].tokens; len(toks) > 1 && toks[1].Type == TypeName {
			schema.Broken = append(schema.Broken, toks[1].Value)
		}
	}
	return schema, p.result()
}

// ParseQueries parses a .gq text. It reports every query that does not follow the grammar and
// returns the others.
func ParseQueries(file, text string) (*File, diag.List) {
	return ParseQueriesWithin(nil, file, text)
}

// ParseQueriesWithin is ParseQueries on one goroutine with a meter, which may panic to end the
// parsing.
func ParseQueriesWithin(m *work.Meter, file, text string) (*File, diag.List) {
	s := scan(m, file, text)
	f := &File{Name: file, Text: text, Comments: s.comments}
	p := newParser(s, "query")
	decls := p.declarations()
	m.Queries(len(decls))
	for _, q := range parseEach(p, decls, parseQuery) {
		if q != nil {
			f.Queries = append(f.Queries, q)
		}
	}
	return f, p.result()
}

// parser parses the declarations of one text and collects the faults.
type parser struct {
	tokens     []Token     // of the whole text
	keywords   []string    // the keywords that start a declaration
	garbled    []int       // see scanner.garbled
	faults     diag.List   // listed errors
	faultCount int         // number of errors, including the unlisted ones
	meter      *work.Meter // counts the work; nil for no limits
}

// newParser returns a parser for the tokens of a scanner. `keywords` are the words that start a
// declaration.
func newParser(s *scanner, keywords ...string) *parser {
	return &parser{tokens: s.tokens, keywords: keywords, garbled: s.garbled, faults: s.faults[:len(s.faults):len(s.faults)], meter: s.meter}
}

// result returns the errors in source order.
func (p *parser) result() diag.List {
	p.faults.Sort()
	return p.faults.Cut(diag.Most)
}

// batch is the number of declarations that one goroutine parses at a time. It is large enough to
// make the cost of scheduling negligible.
const batch = 32

// parseEach parses declarations, several batches concurrently. It returns the results of the
// function `parse` in the order of the declarations. The errors and their order do not depend on
// the number of processors. With a meter, parseEach parses everything on the calling goroutine,
// because a meter is not safe for concurrent use.
func parseEach[D any](p *parser, decls []*declaration, parse func(*parser, *declaration) D) []D {
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
	}
	return out
}

// fault reports an error, and counts it even if it is not listed.
func (p *parser) fault(code diag.Code, at diag.Span, help, format string, args ...any) {
	p.faultCount++
	if !p.faultsFull() {
		p.faults = append(p.faults, diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
	}
}

// faultsFull reports whether there are already more errors than a list shows. Further messages then
// need not be formatted.
func (p *parser) faultsFull() bool { return len(p.faults) > diag.Most }

// parseDecl parses a declaration. It returns nil if the declaration has an error.
func parseDecl(p *parser, decl *declaration) Decl {
	var d Decl
	ok := false
	switch decl.tokens[0].Value {
	case "interface":
		d, ok = parseOne(p, interfaceOf, decl)
	case "node":
		d, ok = parseOne(p, nodeOf, decl)
	case "edge":
		d, ok = parseOne(p, edgeOf, decl)
	}
	if ok && p.checkDecl(d) {
		return d
	}
	return nil
}

// parseQuery parses a query. It returns nil if the query has an error.
func parseQuery(p *parser, decl *declaration) *Query {
	if q, ok := parseOne(p, queryOf, decl); ok && p.checkQuery(q) {
		return q
	}
	return nil
}

// parseOne parses a declaration with its grammar. If the declaration has an error, parseOne
// reports it and ok is false.
func parseOne[G any](p *parser, pick func(*grammar) *participle.Parser[G], d *declaration) (node *G, ok bool) {
	if d.tooDeep {
		return nil, false
	}
	if len(d.tokens) > unmetered {
		p.meter.Head(d.head())
	}
	garbled := p.garbledIn(d)
	node, err := pick(grammarFor(p.meter, len(d.tokens))).ParseFromLexer(peeking(p.meter, d.tokens), trace...)
	p.meter.Step(len(d.tokens))
	if err == nil {
		if d.stray != nil && garbled < 0 {
			p.reportForeign(d.stray)
		}
		return node, garbled < 0
	}
	if !p.faultsFull() {
		p.explain(err, d, garbled)
	}
	return nil, false
}

// trace is empty, except in the test that counts the steps of the grammar library.
var trace []participle.ParseOption
