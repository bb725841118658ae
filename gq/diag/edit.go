package diag

import (
	"cmp"
	"slices"
	"strings"
)

// Edit replaces the text of a span.
type Edit struct {
	Span Span   `json:"span"`
	Text string `json:"text"`
}

// Apply makes the edits that concern file in its text. Of two edits that overlap the
// one that starts first is made, and the other counted in skipped.
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
