// Package gq compiles graph schemas (.pg) and stored queries (.gq).
package gq

import (
	"context"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Source is a text and the name that diagnostics use for it, in its fields Name and Text.
type Source = compile.Source

// Query is a checked query: its Plan, its source as File, Span and Text, and the contents of its annotations, such as
// Description, ParamDocs, Expose and ToolName.
type Query = compile.Query

// Options say what queries may use beside the types of a schema: the Claims of callers, as actor().NAME. The zero value
// has no claims. The methods CompileQueries, CompileQueriesWithin and Lint are the functions of these names with the options.
type Options = compile.Options

// Faults is a list of faults in texts, each with its code, its place and its help. Err returns the
// list as an error, or nil if it contains no error.
type Faults = diag.List

// Fault is one fault of a text.
type Fault = diag.Diagnostic

// Span is a part of a text: its file, its start and its end.
type Span = diag.Span

// Limits bound the parts of an untrusted text. A zero field means no limit.
type Limits = work.Limits

// TooMany is the error for a text that has more parts of one kind than [Limits] allow.
type TooMany = work.TooMany

// CompileSchema parses and resolves a schema. The schema is nil if the list has errors.
func CompileSchema(src Source) (*catalog.Schema, Faults) { return compile.Schema(src) }

// CompileQueries parses and checks the queries of a graph and returns them in source order,
// without the queries that have errors. The list has the errors of all sources, sorted by file
// and position.
func CompileQueries(s *catalog.Schema, sources ...Source) ([]*Query, Faults) {
	return Options{}.CompileQueries(s, sources...)
}

// Format returns a source in its canonical layout. The source is a schema if its name ends in
// .pg, and queries otherwise. If the source does not parse, the returned text is empty and the
// list has errors.
func Format(src Source) (string, Faults) { return compile.Format(src) }

// Lint compiles all sources of a graph and applies the lint rules, with their default levels, to the queries without errors.
// The list has the faults of the compiler too. If the schema has errors, it contains only those.
func Lint(schema Source, queries ...Source) Faults {
	return Options{}.Lint(schema, queries...)
}

// The functions below are for untrusted texts. Each runs on the calling goroutine. It stops
// within milliseconds after its context ends and then returns the error of the context. If a text
// has more parts than the limits allow, the error is a *[TooMany].

// CompileSchemaWithin is [CompileSchema] within a context and limits.
func CompileSchemaWithin(ctx context.Context, limits Limits, src Source) (s *catalog.Schema, faults Faults, err error) {
	return compile.SchemaWithin(ctx, limits, src)
}

// CompileQueriesWithin is [CompileQueries] within a context and limits.
func CompileQueriesWithin(ctx context.Context, limits Limits, s *catalog.Schema, sources ...Source) (queries []*Query, faults Faults, err error) {
	return Options{}.CompileQueriesWithin(ctx, limits, s, sources...)
}

// FormatWithin is [Format] within a context and limits.
func FormatWithin(ctx context.Context, limits Limits, src Source) (text string, faults Faults, err error) {
	return compile.FormatWithin(ctx, limits, src)
}
