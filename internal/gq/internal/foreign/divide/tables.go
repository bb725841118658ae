package divide

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
)

// TablesOf returns the tables after FROM of a SELECT.
func TablesOf(body []lex.Token) []lex.Token {
	columns, _, start := columnsOf(body)
	if columns == nil {
		return nil
	}
	depth, end := 0, start+1
	for ; end < len(body); end++ {
		switch t := body[end]; {
		case t.Kind == lex.Mark && strings.Contains("([", t.Text):
			depth++
		case t.Kind == lex.Mark && strings.Contains(")]", t.Text):
			depth--
		case depth == 0 && (t.Are("where") || t.Are("group") || t.Are("having") || lex.Tokens(body[end:]).EndsRows()):
			return body[start+1 : end]
		}
	}
	return body[start+1:]
}
