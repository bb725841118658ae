package gq

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// RightQueries returns the names of the queries of a text in which none of its faults stands. The
// faults must be all those of the text. It needs no schema, so that a client can tell from the faults
// that a server answers.
func RightQueries(src Source, faults Faults) []string {
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

// before compares places by line and column, which diagnostics that were sent as JSON keep.
func before(a, b diag.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column }
