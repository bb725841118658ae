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

func noParser(file string) diag.List { return diag.List{NoParserFault(file)} }
