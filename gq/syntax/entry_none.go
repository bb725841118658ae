//go:build gq_noparse

package syntax

import "github.com/omnigraph-go/omnigraph/gq/diag"

// ParseSchema reports that the build has no parser.
func ParseSchema(file, text string) (*Schema, diag.List) {
	return &Schema{Name: file, Text: text}, noParser(file)
}

// ParseQueries reports that the build has no parser.
func ParseQueries(file, text string) (*File, diag.List) {
	return &File{Name: file, Text: text}, noParser(file)
}

func noParser(file string) diag.List {
	start := diag.Pos{Line: 1, Column: 1}
	return diag.List{{
		Code: NoParser, Message: "this build has no parser", Help: "build without the tag gq_noparse",
		Span: diag.Span{File: file, Start: start, End: start},
	}}
}
