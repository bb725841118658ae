package gq

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/nearest"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// nearestIntro introduces the query in the help of an error.
const nearestIntro = "nearest query: "

// withNearest adds a query to the help of the first error of a text with habits of another language.
// The query says what the text says. It adds nothing if there is no such query that compiles.
func withNearest(m *work.Meter, s *catalog.Schema, src Source, faults diag.List) diag.List {
	if !faults.HasErrors() {
		return faults
	}
	text, ok := nearest.Rewrite(s, src.Text)
	if !ok || text == src.Text {
		return faults
	}
	if queries, more := compileQueries(m, s, []Source{{Name: src.Name, Text: text}}); more.HasErrors() || len(queries) != 1 {
		return faults
	}
	for i := range faults {
		if faults[i].Severity != diag.Error {
			continue
		}
		if faults[i].Help != "" {
			faults[i].Help += "; "
		}
		faults[i].Help += nearestIntro + text
		break
	}
	return faults
}
