package gq

import (
	"path"

	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/format"
)

// Format returns a source in its canonical layout: a schema when its name ends in .pg,
// queries otherwise. A source that does not parse is not formatted: the text is then
// empty, and the list has errors.
func Format(src Source) (string, diag.List) {
	if path.Ext(src.Name) == ".pg" {
		return format.Schema(src.Name, src.Text)
	}
	return format.Queries(src.Name, src.Text)
}
