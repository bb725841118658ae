package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of each production that is parsed by hand, in EBNF. Its parser is in this package.
// SchemaGrammar and QueryGrammar return these together with the productions that the grammar
// library parses.
const (
	clauseGrammar     = `Clause = Binding | Not | TextClause | Traversal | Filter .`
	notGrammar        = `Not = "not" "{" Clause+ "}" .`
	textGrammar       = `TextClause = ("search" | "match_text" | "fuzzy") "(" Operand ("," Operand)* ")" (Comparison Operand "?"?)? .`
	traversalGrammar  = `Traversal = <var> (<var> ":")? (<name> | ("<" <name> ">")) Bounds? <var> .`
	boundsGrammar     = `Bounds = "{" <int> "," <int>? "}" .`
	filterGrammar     = `Filter = Operand Comparison Operand "?"? .`
	comparisonGrammar = `Comparison = <relation> | "contains" | "starts_with" .`
)

// parseClause looks at up to four tokens to decide which production a clause is. Clauses make up
// most of a query. All of them except bindings are parsed by hand: a grammar that tries one
// production after another is slower, and its error is that of the last production that it
// tried.
func (g *grammar) parseClause(lex *lexer.PeekingLexer) (Clause, error) {
	g.meter.Step(1)
	var ahead [4]Token
	start := lex.MakeCheckpoint()
	for i := range ahead {
		ahead[i] = *lex.Next()
	}
	lex.LoadCheckpoint(start)
	first, second := ahead[0], ahead[1]
	switch {
	case first.Type == Name && first.Value == "not" && second.Value == "{":
		return g.parseNot(lex)
	case first.Type == Name && isTextFunction(first.Value) && second.Value == "(":
		return g.parseText(lex)
	case first.Type == Var && second.Value == ":":
		return g.parseBinding(lex)
	case first.Type == Var && startsTraversal(ahead):
		return g.parseTraversal(lex)
	case startsOperand(first):
		return g.parseFilter(lex)
	}
	return nil, participle.NextMatch
}

func isTextFunction(name string) bool {
	return name == "search" || name == "match_text" || name == "fuzzy"
}

// startsTraversal distinguishes a traversal from a filter that starts with a bare variable. An
// edge may be named contains or starts_with; then it must be followed by bounds or by a variable
// without a property.
func startsTraversal(t [4]Token) bool {
	switch {
	case t[1].Type == Var:
		return true
	case t[1].Value == "<":
		return t[2].Type == Name && t[3].Value == ">"
	case t[1].Type != Name:
		return false
	case t[1].Value == "contains" || t[1].Value == "starts_with":
		return t[2].Value == "{" || t[2].Type == Var && t[3].Value != "."
	}
	return true
}

func startsOperand(t Token) bool {
	switch t.Type {
	case Name, Var, Int, Float, String:
		return true
	}
	return t.Value == "["
}

// nested holds the options of a parser that parses a part of a declaration.
var nested = []participle.ParseOption{participle.AllowTrailing(true)}

func (g *grammar) parseBinding(lex *lexer.PeekingLexer) (Clause, error) {
	b, err := g.binding().ParseFromLexer(lex, nested...)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (g *grammar) parseTraversal(lex *lexer.PeekingLexer) (Clause, error) {
	p := operandParser{lex, lex.RawCursor(), g}
	t := &Traversal{From: *lex.Next()}
	var err error
	if tok := *lex.Peek(); tok.Type == Var {
		t.EdgeVar = &tok
		lex.Next()
		if err = p.want(":"); err != nil {
			return nil, err
		}
	}
	t.Undirected = p.takes(Relation, "<")
	if t.Edge, err = p.token(Name, "the name of an edge"); err != nil {
		return nil, err
	}
	if t.Undirected && !p.takes(Relation, ">") {
		return nil, unexpected(*lex.Peek(), "`>`")
	}
	if t.Bounds, err = g.parseBounds(lex); err != nil {
		return nil, err
	}
	if t.To, err = p.token(Var, "a $variable"); err != nil {
		return nil, err
	}
	t.Range = p.taken()
	return t, nil
}

func (g *grammar) parseBounds(lex *lexer.PeekingLexer) (*Bounds, error) {
	p := operandParser{lex, lex.RawCursor(), g}
	if !p.takes(Punct, "{") {
		return nil, nil
	}
	b := &Bounds{}
	var err error
	if b.Min, err = p.token(Int, "an integer"); err != nil {
		return nil, err
	}
	if err = p.want(","); err != nil {
		return nil, err
	}
	if tok := *lex.Peek(); tok.Type == Int {
		b.Max = &tok
		lex.Next()
	}
	if err = p.want("}"); err != nil {
		return nil, err
	}
	b.Range = p.taken()
	return b, nil
}

func (g *grammar) parseText(lex *lexer.PeekingLexer) (Clause, error) {
	p := operandParser{lex, lex.RawCursor(), g}
	t := &TextClause{}
	var err error
	if t.Call, err = g.parseOperand(lex); err != nil {
		return nil, err
	}
	if op := *lex.Peek(); isComparison(op) {
		lex.Next()
		t.Op = &op
		if t.Right, t.Optional, err = p.right(); err != nil {
			return nil, err
		}
	}
	t.Range = p.taken()
	return t, nil
}

func (g *grammar) parseFilter(lex *lexer.PeekingLexer) (Clause, error) {
	p := operandParser{lex, lex.RawCursor(), g}
	f := &Filter{}
	var err error
	if f.Left, err = g.parseOperand(lex); err != nil {
		return nil, err
	}
	if f.Op = *lex.Peek(); !isComparison(f.Op) {
		return nil, unexpected(f.Op, "`=`, `!=`, `<`, `<=`, `>`, `>=`, `contains` or `starts_with`")
	}
	lex.Next()
	if f.Right, f.Optional, err = p.right(); err != nil {
		return nil, err
	}
	f.Range = p.taken()
	return f, nil
}

// right parses the part of a comparison after its operator.
func (p operandParser) right() (o Operand, optional bool, err error) {
	at := *p.Peek()
	if o, err = p.grammar.parseOperand(p.PeekingLexer); err != nil {
		return nil, false, required(err, at)
	}
	return o, p.takes(Punct, "?"), nil
}

func isComparison(t Token) bool {
	return t.Type == Relation || t.Type == Name && (t.Value == "contains" || t.Value == "starts_with")
}

func (g *grammar) parseNot(lex *lexer.PeekingLexer) (Clause, error) {
	from := lex.RawCursor()
	lex.Next()
	lex.Next()
	n := &Not{}
	for {
		c, err := g.parseClause(lex)
		if err == participle.NextMatch {
			break
		}
		if err != nil {
			return nil, err
		}
		n.Match = append(n.Match, c)
	}
	end := *lex.Peek()
	switch {
	case len(n.Match) == 0:
		return nil, unexpected(end, "a clause")
	case end.Type != Punct || end.Value != "}":
		return nil, unexpected(end, "a clause or `}`")
	}
	lex.Next()
	n.Tokens = lex.Range(from, lex.RawCursor())
	return n, nil
}
