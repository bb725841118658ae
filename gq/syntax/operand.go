package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Operand is an expression of the query language: one of *Literal, *VarRef, *PropRef, *AliasRef,
// *Now and *Call.
type Operand interface {
	operand()
	Source() Range
}

// LiteralKind is the kind of a literal.
type LiteralKind uint8

// The kinds of literal.
const (
	StringLiteral LiteralKind = iota
	IntLiteral
	FloatLiteral
	BoolLiteral
	TextLiteral // the text of another kind, such as date("2024-05-01")
	ListLiteral
)

// Literal is a literal value.
type Literal struct {
	Range
	Kind  LiteralKind
	Of    value.Kind // of a TextLiteral
	Text  string     // unquoted for a StringLiteral or TextLiteral; otherwise as written
	Elems []*Literal
}

// VarRef is a variable or parameter without a property.
type VarRef struct{ Range }

// PropRef is a property of a variable.
type PropRef struct {
	Range
	Var, Prop Token
}

// AliasRef is a bare name. In order it refers to a column.
type AliasRef struct{ Range }

// Now is a call of now().
type Now struct{ Range }

// Call is a function or an aggregate with its arguments.
type Call struct {
	Range
	Name Token
	Args []Operand
}

func (*Literal) operand()  {}
func (*VarRef) operand()   {}
func (*PropRef) operand()  {}
func (*AliasRef) operand() {}
func (*Now) operand()      {}
func (*Call) operand()     {}

// Source returns the tokens of the operand.
func (r Range) Source() Range { return r }

// Functions lists the names of the functions that a Call can have.
var Functions = []string{"count", "sum", "avg", "min", "max", "search", "match_text", "fuzzy", "bm25", "nearest", "rrf"}

// literalFunctions lists the functions that write a literal, such as date.
var literalFunctions = func() []string {
	var names []string
	for _, k := range value.Kinds() {
		if f := k.Literal(); f != "" {
			names = append(names, f)
		}
	}
	return names
}()

const (
	operandGrammar  = `Operand = Now | Call | PropRef | VarRef | Literal | AliasRef .`
	propRefGrammar  = `PropRef = <var> "." <name> .`
	varRefGrammar   = `VarRef = <var> .`
	aliasRefGrammar = `AliasRef = <name> .`
	nowGrammar      = `Now = "now" "(" ")" .`
	callGrammar     = `Call = <name> "(" Operand ("," Operand)* ")" .`
	listGrammar     = `List = "[" (Literal ("," Literal)*)? "]" .`
)

var literalGrammar = `Literal = <string> | <int> | <float> | "true" | "false" | (("` + strings.Join(literalFunctions, `" | "`) + `") "(" <string> ")") | List .`

// operandParser parses operands by hand. The first token determines the form of the operand, or
// the second one if the first is a name.
type operandParser struct {
	*lexer.PeekingLexer
	from    lexer.RawCursor
	grammar *grammar
}

func (g *grammar) parseOperand(lex *lexer.PeekingLexer) (Operand, error) {
	g.meter.Step(1)
	p := operandParser{lex, lex.RawCursor(), g}
	t := *lex.Peek()
	switch t.Type {
	case Var:
		lex.Next()
		if !p.punct(".") {
			return &VarRef{p.taken()}, nil
		}
		prop := *lex.Peek()
		if prop.Type != Name {
			return nil, unexpected(prop, "a property name")
		}
		lex.Next()
		return &PropRef{p.taken(), t, prop}, nil
	case Name:
		return p.named(t)
	}
	return p.literal(t)
}

func (p operandParser) named(t Token) (Operand, error) {
	p.Next()
	if t.Value == "true" || t.Value == "false" {
		return &Literal{Range: p.taken(), Kind: BoolLiteral, Text: t.Value}, nil
	}
	if !p.punct("(") {
		return &AliasRef{p.taken()}, nil
	}
	if t.Value == "now" {
		if err := p.want(")"); err != nil {
			return nil, err
		}
		return &Now{p.taken()}, nil
	}
	if k, ok := value.KindOfLiteral(t.Value); ok {
		return p.textOf(k)
	}
	c := &Call{Name: t}
	for {
		arg, err := p.grammar.parseOperand(p.PeekingLexer)
		if err != nil {
			return nil, required(err, *p.Peek())
		}
		c.Args = append(c.Args, arg)
		if !p.punct(",") {
			break
		}
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	c.Range = p.taken()
	return c, nil
}

// textOf parses the rest of a literal of a kind that is written as a call with a text, such as
// date("2024-05-01").
func (p operandParser) textOf(kind value.Kind) (Operand, error) {
	t := *p.Peek()
	if t.Type != String {
		return nil, unexpected(t, "a string")
	}
	p.Next()
	if err := p.want(")"); err != nil {
		return nil, err
	}
	return &Literal{Range: p.taken(), Kind: TextLiteral, Of: kind, Text: Text(t)}, nil
}

func (p operandParser) literal(t Token) (Operand, error) {
	l := &Literal{Text: t.Value}
	switch {
	case t.Type == String:
		l.Kind, l.Text = StringLiteral, Text(t)
	case t.Type == Int:
		l.Kind = IntLiteral
	case t.Type == Float:
		l.Kind = FloatLiteral
	case t.Type == Punct && t.Value == "[":
		return p.list()
	default:
		return nil, participle.NextMatch
	}
	p.Next()
	l.Range = p.taken()
	return l, nil
}

func (p operandParser) list() (Operand, error) {
	l := &Literal{Kind: ListLiteral}
	p.Next()
	for !p.punct("]") {
		if len(l.Elems) > 0 {
			if err := p.want(","); err != nil {
				return nil, err
			}
		}
		at := *p.Peek()
		e, err := p.grammar.parseOperand(p.PeekingLexer)
		if err != nil {
			return nil, required(err, at)
		}
		elem, ok := e.(*Literal)
		if !ok {
			return nil, unexpected(at, "a literal")
		}
		l.Elems = append(l.Elems, elem)
	}
	l.Range = p.taken()
	return l, nil
}

// taken returns the tokens from the start of the operand to the current position.
func (p operandParser) taken() Range { return Range{p.Range(p.from, p.RawCursor())} }

func (p operandParser) punct(s string) bool { return p.takes(Punct, s) }

// takes consumes the next token if it has the given type and text, and reports whether it did.
func (p operandParser) takes(typ lexer.TokenType, s string) bool {
	if t := p.Peek(); t.Type != typ || t.Value != s {
		return false
	}
	p.Next()
	return true
}

func (p operandParser) want(s string) error {
	if !p.punct(s) {
		return unexpected(*p.Peek(), "`"+s+"`")
	}
	return nil
}

// token consumes a token of type typ. If the next token has another type, the error calls the
// expected token what.
func (p operandParser) token(typ lexer.TokenType, what string) (Token, error) {
	t := *p.Peek()
	if t.Type != typ {
		return t, unexpected(t, what)
	}
	p.Next()
	return t, nil
}

// required turns the error for a missing operand into a message.
func required(err error, at Token) error {
	if err == participle.NextMatch {
		return unexpected(at, "an expression")
	}
	return err
}

func unexpected(t Token, want string) error {
	return &participle.UnexpectedTokenError{Unexpected: t, Expect: want}
}
