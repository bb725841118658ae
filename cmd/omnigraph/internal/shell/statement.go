package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// reader finds the end of the first statement of a text that grows by lines. It scans each line once, except in a string or a comment
// that spans lines.
type reader struct {
	looked int    // length of the text at the last call
	seen   int    // offset of the end of the last token or comment
	begun  bool   // a statement has begun
	depth  int    // number of braces that are open
	open   string // what ends the string or comment that is open after `seen`; "" if none is
}

// end returns the end of the first statement: a query up to its closing brace, with what stands before it. It reports false if more
// lines are needed. A text that cannot become a query is a statement too, up to its end, so that the graph says what is wrong with it.
func (r *reader) end(text string) (end int, whole bool) {
	added := text[r.looked:]
	r.looked = len(text)
	if !utf8.ValidString(added) || strings.IndexByte(added, 0) >= 0 {
		return len(text), true
	}
	if !strings.Contains(added, r.open) {
		return 0, false
	}
	from := r.seen
	tokens, comments := syntax.Scan("", text[from:])
	for _, c := range comments {
		r.seen = from + c.Span.End.Offset
	}
	for _, t := range tokens {
		if !r.begun && t.Value != "query" && t.Value != "@" {
			return len(text), true
		}
		r.begun = true
		past := from + t.Pos.Offset + len(t.Value)
		switch t.Value {
		case "{":
			r.depth++
		case "}":
			if r.depth--; r.depth <= 0 {
				return past, true
			}
		}
		r.seen = max(r.seen, past)
	}
	r.open = ""
	switch ahead := strings.TrimSpace(text[r.seen:]); {
	case strings.HasPrefix(ahead, `"`):
		r.open = `"`
	case strings.HasPrefix(ahead, "/*"):
		r.open = "*/"
	}
	return 0, false
}

// line returns a statement as one line without comments, for the history. Line breaks in strings become escapes.
func line(statement string) string {
	tokens, comments := syntax.Scan("", statement)
	var b strings.Builder
	at := 0
	before := func(offset int) { // writes the comments that end before an offset as nothing, and all else
		for ; len(comments) > 0 && comments[0].Span.Start.Offset < offset; comments = comments[1:] {
			b.WriteString(statement[at:comments[0].Span.Start.Offset])
			at = comments[0].Span.End.Offset
		}
		b.WriteString(statement[at:offset])
		at = offset
	}
	for _, t := range tokens {
		if t.Type != syntax.String || !strings.ContainsAny(t.Value, "\r\n") {
			continue
		}
		before(t.Pos.Offset)
		at += len(t.Value)
		b.WriteString(breaks.Replace(statement[t.Pos.Offset:at]))
	}
	before(len(statement))
	var parts []string
	for part := range strings.Lines(b.String()) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// breaks writes line breaks as escapes of a string.
var breaks = strings.NewReplacer("\r", `\r`, "\n", `\n`)
