package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// maxOperators is the maximum number of operators in a row. It also bounds the depth of an operand
// without parentheses.
const maxOperators = 256

// precedences lists the operators. Those of an earlier row bind more loosely. Operators of one row
// are applied from left to right.
var precedences = []string{"+-", "*/%"}

// parseOperand parses an expression, and consumes as many tokens as it can. If no expression starts
// at the next token, it returns participle.NextMatch and consumes nothing.
func (g *grammar) parseOperand(lex *lexer.PeekingLexer) (Operand, error) {
	return g.parseOperators(lex, 0)
}

// parseOperators parses operands that are combined by operators from the given row of precedences
// or from later rows.
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

// startsOperator reports whether the next token is one of the operators, each of which is a single
// character. It reports false for the minus of an arrow, such as -[:KNOWS]-> or -->, because the
// messages about other languages cover arrows.
func startsOperator(lex *lexer.PeekingLexer, operators string) bool {
	if t := lex.Peek(); t.Type != Punct || len(t.Value) != 1 || !strings.Contains(operators, t.Value) {
		return false
	}
	next := nextTokens(lex)
	return next[0].Value != "-" || next[1].Value != "[" && next[1].Value != "-" && next[1].Value != "->" && next[1].Value != ">"
}

// required takes the result of parsing an operand. The function that it returns reports an error at
// the given token if there is no operand.
func required(o Operand, err error) func(at Token) (Operand, error) {
	return func(at Token) (Operand, error) {
		if err == participle.NextMatch {
			return nil, unexpected(at, "an expression")
		}
		return o, err
	}
}

// parseParentheses parses an operand or a comparison in parentheses. The comparison may be a test for
// null.
func (g *grammar) parseParentheses(c cursor) (Operand, error) {
	c.Next()
	o, err := g.parseComparison(c.PeekingLexer)
	if err != nil {
		return nil, err
	}
	return o, c.want(")")
}

// parseComparison parses an operand, a test of an operand for null, or two operands with a comparison
// between them.
func (g *grammar) parseComparison(lex *lexer.PeekingLexer) (Operand, error) {
	c := cursor{lex, lex.RawCursor()}
	at := *lex.Peek()
	left, err := required(g.parseOperand(lex))(at)
	if err != nil {
		return nil, err
	}
	op := *lex.Peek()
	switch {
	case op.Type == Name && op.Value == "is":
		test, err := parsePart[*NullTest](g.null, lex)
		if err != nil {
			return nil, err
		}
		return &Comparison{Range: c.consumed(), Left: left, Null: test}, nil
	case op.Type != Relation && (op.Type != Name || !slices.Contains(wordOperators, op.Value)):
		return left, nil
	}
	c.Next()
	at = *lex.Peek()
	right, err := required(g.parseOperand(lex))(at)
	if err != nil {
		return nil, err
	}
	return &Comparison{Range: c.consumed(), Left: left, Op: op, Right: right}, nil
}

// parseCall parses a call of a function. The next tokens are its name and a parenthesis.
func (g *grammar) parseCall(c cursor) (Operand, error) {
	call := &Call{Name: *c.Next()}
	c.Next()
	if next := nextTokens(c.PeekingLexer); next[0].Type == Name && next[0].Value == "distinct" && startsOperand(next[1]) {
		call.Distinct = c.Next()
	}
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
