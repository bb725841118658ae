package lsp

import (
	"github.com/aymanbagabas/go-udiff"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// formatting formats a document. It changes only the parts that differ, so that the cursor stays where
// it is. A document with errors of the grammar stays as it is.
func (s *server) formatting(p *documentParams) ([]textEdit, error) {
	edits := []textEdit{}
	d := s.document(p.TextDocument.URI)
	if d == nil || !isSource(d.path) {
		return edits, nil
	}
	out, faults := gq.Format(gq.Source{Name: d.path, Text: d.text.content})
	if faults.HasErrors() {
		return edits, nil
	}
	for _, e := range udiff.Strings(d.text.content, out) {
		edits = append(edits, textEdit{d.text.rangeOf(e.Start, e.End), e.New})
	}
	return edits, nil
}

// inlayHints returns the inferred types in a range: of variables without a binding, and of columns.
func (s *server) inlayHints(p *rangeParams) ([]inlayHint, error) {
	hints := []inlayHint{}
	d := s.document(p.TextDocument.URI)
	g := s.graphOf(d)
	if g == nil || !isQueries(d.path) {
		return hints, nil
	}
	src, t := s.names(g, d.path)
	from, to := t.offset(p.Range.Start), t.offset(p.Range.End)
	add := func(at int, typ string) {
		const kindType = 1
		if from <= at && at <= to && typ != "" {
			hints = append(hints, inlayHint{Position: t.position(at), Label: ": " + typ, Kind: kindType})
		}
	}
	for i := range src.Names {
		n := &src.Names[i]
		end := n.Pos.Offset + len(n.Value)
		switch {
		case n.Kind == xref.Variable && n.Decl && !stated(src, i):
			add(end, n.Type)
		case n.Kind == xref.Column && n.Decl:
			if q := g.assist().QueryAround(src, n.Pos.Offset); q != nil && q.Plan.Read != nil {
				add(end, shortType(q.Plan.Read, n.Value))
			}
		}
	}
	return hints, nil
}

// stated reports whether a type follows the name at index i of the source, as in a binding.
func stated(src *xref.Source, i int) bool {
	n := &src.Names[i]
	next := i + 1
	return next < len(src.Names) && src.Names[next].Kind == xref.Type && src.Names[next].Entity != xref.Edge &&
		src.Names[next].Type == n.Type && src.Names[next].Value == n.Type
}

// shortType returns the type of a column; for a whole node or a list of nodes, only the name of the node's type.
func shortType(r *plan.Read, column string) string {
	for _, c := range r.Columns {
		if c.Name != column {
			continue
		}
		if whole, ok := c.Expr.(plan.Whole); ok {
			return r.Vars[whole.Var].Type
		}
		if agg, ok := c.Expr.(plan.Agg); ok {
			if whole, ok := agg.Arg.(plan.Whole); ok && agg.Func == plan.Collect {
				return "[" + r.Vars[whole.Var].Type + "]"
			}
		}
		return c.TypeText()
	}
	return ""
}
