package diag

import (
	"cmp"
	"slices"
	"strings"
)

// Edit replaces the text of a span.
type Edit struct {
	Span Span   `json:"span"` // the text to replace
	Text string `json:"text"` // the replacement
}

// Apply applies the edits of the named file to its text. If two edits overlap, it applies the one
// that starts first and counts the other one in `skipped`. It also skips edits outside the text,
// and counts them.
func Apply(file, text string, edits []Edit) (out string, skipped int) {
	var own []Edit
	for _, e := range edits {
		if e.Span.File == file {
			own = append(own, e)
		}
	}
	slices.SortStableFunc(own, func(a, b Edit) int { return cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset) })
	var b strings.Builder
	at := 0
	for _, e := range own {
		if e.Span.Start.Offset < at || e.Span.End.Offset > len(text) || e.Span.End.Offset < e.Span.Start.Offset {
			skipped++
			continue
		}
		b.WriteString(text[at:e.Span.Start.Offset])
		b.WriteString(e.Text)
		at = e.Span.End.Offset
	}
	b.WriteString(text[at:])
	return b.String(), skipped
}
