package compile

import (
	"path"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/format"
)

// Format returns a source in its canonical layout. The source is a schema if its name ends in
// .pg, and queries otherwise. If the source does not parse, the returned text is empty and the
// list has errors.
func Format(src Source) (string, diag.List) {
	if path.Ext(src.Name) == ".pg" {
		return format.Schema(src.Name, src.Text)
	}
	return format.Queries(src.Name, src.Text)
}
