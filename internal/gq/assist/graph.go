// Package assist helps the author of a query or a schema: it lists what can be written at a place, and describes
// the name there. It serves editors, pages and shells, and knows none of their protocols.
package assist

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
)

// Graph is what is known of a graph while somebody writes a query for it.
type Graph struct {
	Catalog *catalog.Schema           // nil if the schema has no right form yet
	Queries map[string]*compile.Query // the queries without errors, by name
	Claims  plan.Claims               // the claims that queries may use
}
