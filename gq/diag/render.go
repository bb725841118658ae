package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Colors of a terminal, by severity.
const (
	reset = "\x1b[0m"
	bold  = "\x1b[1m"
	cyan  = "\x1b[36m"
)

var severityColor = [...]string{Error: "\x1b[1;31m", Warning: "\x1b[1;33m", Note: "\x1b[1;34m"}

// Render writes the list for a terminal: a line with place, severity, code and
// message; the source line with a caret line under the exact span, when sources has
// the text of the file; and the help line. A span over several lines is marked up to
// the end of its first.
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

// excerpt returns the first line of a span, and a line that points at the span in it.
func excerpt(text string, s Span) (line, mark string) {
	start := min(s.Start.Offset, len(text))
	from := strings.LastIndexByte(text[:start], '\n') + 1
	to := len(text)
	if nl := strings.IndexByte(text[start:], '\n'); nl >= 0 {
		to = start + nl
	}
	end := max(min(s.End.Offset, to), start)
	line = printable(strings.TrimSuffix(text[from:to], "\r"))
	width := max(uniseg.StringWidth(printable(text[start:end])), 1)
	return line, indent(printable(text[from:start])) + "^" + strings.Repeat("~", width-1)
}

// indent returns blanks as wide as s; a tab stays one, so that it ends where it does
// in the line above.
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

// printable replaces what a terminal would act upon, one code point for each.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, s)
}
