package syntax

import (
	"errors"
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/gq/work"
)

// definition tells the grammars about the tokens; the parsers are handed tokens that
// scan has cut, and never lex by themselves.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols }

func (definition) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, errors.ErrUnsupported
}

// tokenList hands out tokens, then the end without end.
type tokenList struct {
	meter  *work.Meter
	tokens []Token
	end    Token
}

func (l *tokenList) Next() (Token, error) {
	if len(l.tokens) == 0 {
		return l.end, nil
	}
	l.meter.Step(1)
	t := l.tokens[0]
	l.tokens = l.tokens[1:]
	return t, nil
}
