// Package format writes .pg schemas and .gq queries in one canonical layout.
//
// The layout has four rules:
//
//   - A pair of brackets that holds a list or a block is on one line, unless a line break
//     follows the opening bracket or the pair does not fit. Otherwise every element has a
//     line of its own, indented by two spaces. The elements of a list literal fill the lines.
//   - There is one blank line between declarations. Elsewhere, one or more blank lines
//     between two lines become one.
//   - Each annotation of a query has a line of its own, and the query's brace then has one
//     too.
//   - Elements are separated by commas, even where the grammar makes them optional, and the
//     last element has no comma. The arguments of @mcp are written with colons.
//
// A comment stays between the same two tokens. It stays on the line of the token before it or on
// its own line, as in the source. Formatting changes no tokens except as the last rule says. In
// comments it only removes white space at the ends of lines.
package format

import (
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Width is the width of a line in code points. Formatting breaks the brackets on a line that would
// be longer. A line that has no brackets to break may be longer.
const Width = 100

// Schema formats a .pg text. If the text does not parse, the result is empty and the list has
// the errors.
func Schema(file, text string) (string, diag.List) { return SchemaWithin(nil, file, text) }

// SchemaWithin is Schema with a meter, which may panic to end the formatting.
func SchemaWithin(m *work.Meter, file, text string) (string, diag.List) {
	tree, faults := syntax.ParseSchemaWithin(m, file, text)
	if faults.HasErrors() {
		return "", faults
	}
	b := builder{schema: true, meter: m}
	for _, d := range tree.Decls {
		b.decl(d)
	}
	return render(m, text, b.pieces, b.groups, tree.Comments), faults
}

// Queries formats a .gq text. If the text does not parse, the result is empty and the list has
// the errors.
func Queries(file, text string) (string, diag.List) { return QueriesWithin(nil, file, text) }

// QueriesWithin is Queries with a meter, which may panic to end the formatting.
func QueriesWithin(m *work.Meter, file, text string) (string, diag.List) {
	tree, faults := syntax.ParseQueriesWithin(m, file, text)
	if faults.HasErrors() {
		return "", faults
	}
	b := builder{meter: m}
	for _, q := range tree.Queries {
		b.query(q)
	}
	return render(m, text, b.pieces, b.groups, tree.Comments), faults
}
