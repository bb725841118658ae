package shell

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// cut cuts the first statement from a text: a query up to its closing brace, with what stands before it. It reports false if more lines
// are needed. A text that cannot become a query is a statement too, up to its end, so that the graph says what is wrong with it.
func cut(text string) (statement, rest string, whole bool) {
	tokens, _ := syntax.Scan("", text)
	if len(tokens) == 0 {
		return "", text, false // blanks and comments belong to what follows
	}
	if first := tokens[0].Value; first != "query" && first != "@" {
		return text, "", true
	}
	depth := 0
	for _, t := range tokens {
		switch t.Value {
		case "{":
			depth++
		case "}":
			if depth--; depth <= 0 {
				end := t.Pos.Offset + 1
				return text[:end], text[end:], true
			}
		}
	}
	return "", text, false
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
