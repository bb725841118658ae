package syntax

import (
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// maxOperators bounds the operators in a row, and so the depth of an operand without parentheses.
const maxOperators = 256

// precedences lists the operators, those that bind more loosely first. Operators of one row are
// applied from left to right.
var precedences = []string{"+-", "*/%"}

// parseOperand parses an expression. It takes as many tokens as it can. It returns
// participle.NextMatch, and consumes nothing, if none starts at the next token.
func (g *grammar) parseOperand(lex *lexer.PeekingLexer) (Operand, error) {
	return g.parseOperators(lex, 0)
}

// parseOperators parses operands that operators of a row of precedences, or of later rows, combine.
func (g *grammar) parseOperators(lex *lexer.PeekingLexer, row int) (Operand, error) {
	if row == len(precedences) {
		return g.parseFactor(lex)
	}
	c := cursor{lex, lex.RawCursor()}
	left, err := g.parseOperators(lex, row+1)
	if err != nil {
		return nil, err
	}
	for n := 1; startsOperator(lex, precedences[row]); n++ {
		op := *c.Next()
		if n > maxOperators {
			return nil, participle.Errorf(op.Pos, "more than %s operators in a row; put a part into parentheses", strconv.Itoa(maxOperators))
		}
		at := *lex.Peek()
		right, err := required(g.parseOperators(lex, row+1))(at)
		if err != nil {
			return nil, err
		}
		left = &Binary{c.consumed(), left, op, right}
	}
	return left, nil
}

// startsOperator reports whether the next token is one of the operators, each a single character. It
// leaves the minus of an arrow, such as -[:KNOWS]-> or -->, to the messages about other languages.
func startsOperator(lex *lexer.PeekingLexer, operators string) bool {
	if t := lex.Peek(); t.Type != Punct || len(t.Value) != 1 || !strings.Contains(operators, t.Value) {
		return false
	}
	next := nextTokens(lex)
	return next[0].Value != "-" || next[1].Value != "[" && next[1].Value != "-" && next[1].Value != "->" && next[1].Value != ">"
}

// required turns the absence of an operand into an error at a token.
func required(o Operand, err error) func(at Token) (Operand, error) {
	return func(at Token) (Operand, error) {
		if err == participle.NextMatch {
			return nil, unexpected(at, "an expression")
		}
		return o, err
	}
}

// parseParentheses parses an operand or a comparison in parentheses.
func (g *grammar) parseParentheses(c cursor) (Operand, error) {
	c.Next()
	o, err := g.parseComparison(c.PeekingLexer)
	if err != nil {
		return nil, err
	}
	return o, c.want(")")
}

// parseComparison parses an operand, or two and the comparison between them.
func (g *grammar) parseComparison(lex *lexer.PeekingLexer) (Operand, error) {
	c := cursor{lex, lex.RawCursor()}
	at := *lex.Peek()
	left, err := required(g.parseOperand(lex))(at)
	if err != nil {
		return nil, err
	}
	op := *lex.Peek()
	if op.Type != Relation && (op.Type != Name || op.Value != "contains" && op.Value != "starts_with") {
		return left, nil
	}
	c.Next()
	at = *lex.Peek()
	right, err := required(g.parseOperand(lex))(at)
	if err != nil {
		return nil, err
	}
	return &Comparison{c.consumed(), left, op, right}, nil
}

// parseCall parses a call of a function. The next tokens are its name and a parenthesis.
func (g *grammar) parseCall(c cursor) (Operand, error) {
	call := &Call{Name: *c.Next()}
	c.Next()
	for {
		arg, err := g.parseComparison(c.PeekingLexer)
		if err != nil {
			return nil, err
		}
		call.Args = append(call.Args, arg)
		if c.Peek().Value != "," {
			break
		}
		c.Next()
	}
	if t := *c.Peek(); t.Value != ")" {
		return nil, unexpected(t, "`,` or `)`")
	}
	c.Next()
	call.Range = c.consumed()
	return call, nil
}
