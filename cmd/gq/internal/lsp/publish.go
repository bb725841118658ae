package lsp

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// diagnostic converts a finding. Its help follows the message, because the protocol has no member for
// it.
func (f finding) diagnostic(t *text) diagnostic {
	message := f.Message
	if f.Help != "" {
		message += "\nhelp: " + f.Help
	}
	return diagnostic{Range: t.rangeOf(f.from, f.to), Severity: severities[f.Severity], Code: string(f.Code), Source: "gq", Message: message}
}

// severities maps severities to the numbers of the protocol.
var severities = [...]int{diag.Error: 1, diag.Warning: 2, diag.Note: 3}

// publish sends the findings of a file to the editor. It sends nothing for a file without findings that
// is not open and had none before. REQUIRES: s.mu.
func (s *server) publish(ctx context.Context, path string, found []finding) {
	d := s.docs[path]
	if _, before := s.published[path]; len(found) == 0 && d == nil && !before {
		return
	}
	t, err := s.read(path)
	if err != nil {
		t = newText("")
	}
	slices.SortStableFunc(found, func(a, b finding) int { return a.from - b.from })
	p := publishDiagnosticsParams{URI: uriOf(path), Diagnostics: []diagnostic{}}
	if d != nil {
		p.URI, p.Version = d.uri, &d.version
	}
	for _, f := range found {
		p.Diagnostics = append(p.Diagnostics, f.diagnostic(t))
	}
	if s.published[path] = found; len(found) == 0 && d == nil {
		delete(s.published, path)
	}
	// This error is dropped: if the connection fails, the server ends anyway.
	_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", p)
}

// The kinds of code actions.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll.gq"
)

// codeActions offers the fixes of the findings in a range, and one action that applies the fixes of all
// findings of the document. They are the fixes of gq lint --fix.
func (s *server) codeActions(p *codeActionParams) ([]codeAction, error) {
	actions := []codeAction{}
	d := s.document(p.TextDocument.URI)
	if d == nil {
		return actions, nil
	}
	wants := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(only string) bool { return kindWithin(kind, only) })
	}
	from, to := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	var all []textEdit
	for _, f := range s.published[d.path] {
		// The places of the edits are valid only in the text that was diagnosed.
		if len(f.edits) == 0 || f.text != d.text {
			continue
		}
		edits := editsOf(d.text, f.edits)
		all = append(all, edits...)
		if wants(quickFix) && f.from <= to && from <= f.to {
			actions = append(actions, codeAction{
				Title: titleOf(f), Kind: quickFix, IsPreferred: true, Diagnostics: []diagnostic{f.diagnostic(d.text)},
				Edit: workspaceEdit{map[string][]textEdit{d.uri: edits}},
			})
		}
	}
	if len(all) > 0 && wants(fixAll) {
		slices.SortStableFunc(all, func(a, b textEdit) int { return comparePositions(a.Range.Start, b.Range.Start) })
		all = withoutOverlaps(all)
		actions = append(actions, codeAction{Title: "Apply all fixes of gq lint", Kind: fixAll, Edit: workspaceEdit{map[string][]textEdit{d.uri: all}}})
	}
	return actions, nil
}

// kindWithin reports whether a kind of actions is the wanted kind or one of its sub-kinds.
func kindWithin(kind, wanted string) bool {
	return kind == wanted || len(kind) > len(wanted) && kind[:len(wanted)] == wanted && kind[len(wanted)] == '.'
}

// titleOf returns the title of the fix of a finding.
func titleOf(f finding) string {
	if f.Help != "" {
		return "Fix " + string(f.Code) + ": " + f.Help
	}
	return "Fix " + string(f.Code) + ": " + f.Message
}

// editsOf converts edits of a text to text edits of the protocol.
func editsOf(t *text, edits []diag.Edit) []textEdit {
	var out []textEdit
	for _, e := range edits {
		out = append(out, textEdit{t.rangeOf(e.Span.Start.Offset, e.Span.End.Offset), e.Text})
	}
	return out
}

// withoutOverlaps removes each edit that overlaps an earlier one that stays. The list is sorted.
func withoutOverlaps(edits []textEdit) []textEdit {
	var out []textEdit
	for _, e := range edits {
		if n := len(out); n > 0 && comparePositions(e.Range.Start, out[n-1].Range.End) < 0 {
			continue
		}
		out = append(out, e)
	}
	return out
}

// comparePositions orders positions.
func comparePositions(a, b Position) int {
	if a.Line != b.Line {
		return int(a.Line) - int(b.Line)
	}
	return int(a.Character) - int(b.Character)
}
