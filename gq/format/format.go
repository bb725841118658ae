// Package format writes .pg schemas and .gq queries in their one canonical layout.
//
// The layout has four decisions:
//
//   - A pair of brackets that holds a list or a block stands on one line unless a line
//     break follows the opening one, or it does not fit: then every element has a line
//     of its own, indented by two spaces. The elements of a list literal fill lines.
//   - Declarations are one blank line apart; elsewhere a blank line between lines stays,
//     and several become one.
//   - The annotations of a query have a line each, and its brace then one of its own.
//   - Commas stand between elements, where the grammar makes them optional too, and not
//     after the last; @mcp is written with colons.
//
// A comment keeps its place between two tokens, and stays on the line of the token
// before it or on its own line as it stood. Tokens are never changed but for the last
// of the decisions; in comments only white space at line ends is.
package format

import (
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/syntax"
	"github.com/omnigraph-go/omnigraph/gq/work"
)

// Width is the number of code points that a line may have before brackets on it are
// broken. What has no brackets to break may be longer.
const Width = 100

// Schema formats a .pg text. A text that does not parse is not formatted: the result
// is then empty, and the list says where the faults are.
func Schema(file, text string) (string, diag.List) { return SchemaWithin(nil, file, text) }

// SchemaWithin is Schema with a meter, which may end it by a panic.
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

// Queries formats a .gq text. A text that does not parse is not formatted: the result
// is then empty, and the list says where the faults are.
func Queries(file, text string) (string, diag.List) { return QueriesWithin(nil, file, text) }

// QueriesWithin is Queries with a meter, which may end it by a panic.
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
