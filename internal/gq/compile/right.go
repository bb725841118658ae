package compile

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// RightQueries returns the names of a text's queries that contain no error. `faults` must hold all
// faults of the text. RightQueries needs no schema, so that a client can find these queries from
// the faults in the answer of a server.
func RightQueries(src Source, faults diag.List) []string {
	var names []string
	file, _ := syntax.ParseQueries(src.Name, src.Text)
	for _, q := range file.Queries {
		at := q.Span()
		if !slices.ContainsFunc(faults, func(d diag.Diagnostic) bool {
			return d.Severity == diag.Error && !before(d.Span.Start, at.Start) && before(d.Span.Start, at.End)
		}) {
			names = append(names, q.Name.Value)
		}
	}
	return names
}

// before reports whether place a comes before place b. It compares lines and columns, which
// diagnostics keep when they are sent as JSON.
func before(a, b diag.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column }
