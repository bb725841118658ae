//go:build gq_noparse

package syntax

import (
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/work"
)

// ParseSchema reports that the build has no parser.
func ParseSchema(file, text string) (*Schema, diag.List) {
	return &Schema{Name: file, Text: text}, noParser(file)
}

// ParseQueries reports that the build has no parser.
func ParseQueries(file, text string) (*File, diag.List) {
	return &File{Name: file, Text: text}, noParser(file)
}

// ParseSchemaWithin is ParseSchema.
func ParseSchemaWithin(_ *work.Meter, file, text string) (*Schema, diag.List) {
	return ParseSchema(file, text)
}

// ParseQueriesWithin is ParseQueries.
func ParseQueriesWithin(_ *work.Meter, file, text string) (*File, diag.List) {
	return ParseQueries(file, text)
}

func noParser(file string) diag.List { return diag.List{NoParserFault(file)} }
