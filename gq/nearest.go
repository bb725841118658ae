package gq

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/nearest"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// nearestIntro introduces the query in the help of an error.
const nearestIntro = "nearest query: "

// withNearest adds a query to the help of the first error of a text with habits of another language.
// The query says what the text says, and it makes the faults of the syntax after that error superfluous.
// If there is no such query that compiles, withNearest adds what to use instead of the parts of the text
// that have no counterpart.
func withNearest(m *work.Meter, s *catalog.Schema, src Source, faults diag.List) diag.List {
	first := slices.IndexFunc(faults, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	if first < 0 {
		return faults
	}
	var advice []string
	if help := faults[first].Help; help != "" {
		advice = append(advice, help)
	}
	if offer, ok := nearest.Rewrite(s, src.Text); ok && offer.Query != src.Text && compiles(m, s, Source{Name: src.Name, Text: offer.Query}) {
		advice = append(append(advice, offer.Notes...), nearestIntro+offer.Query)
		rest := slices.DeleteFunc(slices.Clone(faults[first+1:]), func(d diag.Diagnostic) bool { return d.Code[0] == 'P' })
		faults = append(faults[:first+1], rest...)
	} else {
		advice = append(advice, nearest.Instead(s, src.Text)...)
	}
	faults[first].Help = strings.Join(advice, "; ")
	return faults
}

// compiles reports whether a source is one query without errors.
func compiles(m *work.Meter, s *catalog.Schema, src Source) bool {
	queries, faults := compileQueries(m, s, []Source{src})
	return !faults.HasErrors() && len(queries) == 1
}
