package syntax

import (
	"errors"
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/gq/work"
)

// definition gives the grammars the names of the tokens. The parsers only receive tokens from
// scan, so Lex is never called.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols }

func (definition) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, errors.ErrUnsupported
}

// tokenList returns its tokens in order, and then the end token forever.
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
