package divide

import "github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"

// TablesOf returns the tables after FROM of a SELECT.
func TablesOf(body []lex.Token) []lex.Token {
	columns, _, start := columnsOf(body)
	if columns == nil {
		return nil
	}
	tables := lex.Tokens(body[start+1:])
	for i, t := range tables.Outside() {
		if t.Are("where") || t.Are("group") || t.Are("having") || tables[i:].EndsRows() {
			return tables[:i]
		}
	}
	return tables
}
