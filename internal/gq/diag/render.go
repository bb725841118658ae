package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Terminal escape sequences.
const (
	reset = "\x1b[0m"
	bold  = "\x1b[1m"
	cyan  = "\x1b[36m"
)

// severityColor maps severities to terminal escape sequences.
var severityColor = [...]string{Error: "\x1b[1;31m", Warning: "\x1b[1;33m", Note: "\x1b[1;34m"}

// Render writes the list for a terminal. For each diagnostic it writes a line with position,
// severity, code and message. If `sources` has the text of the file, the source line follows, with
// carets under the exact span. The help line comes last. A span over several lines is marked up to
// the end of its first line.
func Render(w io.Writer, list List, sources map[string]string, color bool) error {
	paint := func(code, s string) string {
		if !color {
			return s
		}
		return code + s + reset
	}
	for _, d := range list {
		head := paint(severityColor[d.Severity], fmt.Sprintf("%s %s", d.Severity, d.Code))
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n", paint(bold, d.Span.String()), head, d.Message); err != nil {
			return err
		}
		if text, ok := sources[d.Span.File]; ok && d.Span.Start.Line > 0 {
			line, mark := excerpt(text, d.Span)
			if _, err := fmt.Fprintf(w, "  %s\n  %s\n", line, paint(severityColor[d.Severity], mark)); err != nil {
				return err
			}
		}
		if d.Help != "" {
			if _, err := fmt.Fprintf(w, "  %s %s\n", paint(cyan, "help:"), d.Help); err != nil {
				return err
			}
		}
	}
	return nil
}

// A line of at most maxLine bytes is shown whole. Of a longer line, such as a query written on
// one line, only the part within margin bytes of the span's start is shown.
const (
	maxLine = 200
	margin  = 80
)

// excerpt returns the first line of a span, or the part of it around the span's start, and a
// line of carets that marks the span. It reads only that part of the text.
func excerpt(text string, s Span) (line, mark string) {
	start := min(s.Start.Offset, len(text))
	from, to := lineAround(text, start)
	head, tail := "", ""
	if to-from > maxLine {
		if left := start - margin; left > from {
			from, head = runeStart(text, left), "…"
		}
		if right := start + margin; right < to {
			to, tail = runeStart(text, right), "…"
		}
	}
	end := max(min(s.End.Offset, to), start)
	line = head + printable(strings.TrimSuffix(text[from:to], "\r")) + tail
	width := max(uniseg.StringWidth(printable(text[start:end])), 1)
	return line, indent(head+printable(text[from:start])) + "^" + strings.Repeat("~", width-1)
}

// lineAround returns the start and end of the line around an offset. If the line is longer than
// maxLine, it may return offsets inside the line that are more than maxLine bytes apart.
func lineAround(text string, at int) (from, to int) {
	from, to = max(at-maxLine-1, 0), min(at+maxLine+1, len(text))
	if nl := strings.LastIndexByte(text[from:at], '\n'); nl >= 0 {
		from += nl + 1
	}
	if nl := strings.IndexByte(text[at:to], '\n'); nl >= 0 {
		to = at + nl
	}
	return from, to
}

// runeStart returns the last offset at or before i where a code point starts.
func runeStart(text string, i int) int {
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// indent returns blanks of the same width as s. It keeps tabs, so that they end at the same
// column as in the line above.
func indent(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(strings.Repeat(" ", uniseg.StringWidth(part)))
	}
	return b.String()
}

// printable replaces each control character that a terminal could act upon, except tabs, by
// U+FFFD.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}
