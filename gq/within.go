package gq

import (
	"context"
	"path"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// The functions of this file are for untrusted texts. Each runs on the calling goroutine. It stops
// within milliseconds after its context ends and then returns the error of the context. If a text
// has more parts than the limits allow, the error is a *[TooMany].

// Limits bound the parts of an untrusted text. A zero field means no limit.
type Limits = work.Limits

// TooMany is the error for a text that has more parts of one kind than [Limits] allow.
type TooMany = work.TooMany

// CompileSchemaWithin is [CompileSchema] within a context and limits.
func CompileSchemaWithin(ctx context.Context, limits Limits, src Source) (s *catalog.Schema, faults Faults, err error) {
	defer work.Catch(&err)
	s, faults = compileSchema(work.New(ctx, limits), src)
	return s, faults, nil
}

// CompileQueriesWithin is [CompileQueries] within a context and limits.
func CompileQueriesWithin(ctx context.Context, limits Limits, s *catalog.Schema, sources ...Source) (queries []*Query, faults Faults, err error) {
	return Options{}.CompileQueriesWithin(ctx, limits, s, sources...)
}

// CompileQueriesWithin is [Options.CompileQueries] within a context and limits.
func (o Options) CompileQueriesWithin(ctx context.Context, limits Limits, s *catalog.Schema, sources ...Source) (queries []*Query, faults Faults, err error) {
	defer work.Catch(&err)
	m := work.New(ctx, limits)
	queries, faults = o.compileQueries(m, s, sources)
	if len(sources) == 1 {
		faults = o.withOffer(m, s, sources[0], faults)
	}
	return queries, faults, nil
}

// FormatWithin is [Format] within a context and limits.
func FormatWithin(ctx context.Context, limits Limits, src Source) (text string, faults Faults, err error) {
	defer work.Catch(&err)
	m := work.New(ctx, limits)
	if path.Ext(src.Name) == ".pg" {
		text, faults = format.SchemaWithin(m, src.Name, src.Text)
	} else {
		text, faults = format.QueriesWithin(m, src.Name, src.Text)
	}
	return text, faults, nil
}

// LintQueriesWithin compiles a source against a schema and applies the lint rules for single
// queries, within a context and limits. It returns the queries without errors, as
// [Options.CompileQueries] does, and a report that includes the compiler's diagnostics.
func (o Options) LintQueriesWithin(ctx context.Context, limits Limits, s *catalog.Schema, config lint.Config, src Source) (queries []*Query, report *lint.Report, err error) {
	defer work.Catch(&err)
	m := work.New(ctx, limits)
	file, faults := syntax.ParseQueriesWithin(m, src.Name, src.Text)
	in := lint.Input{Schema: s, SchemaTree: &syntax.Schema{}, Files: []*syntax.File{file}, Config: config, Meter: m}
	seen := map[string]bool{}
	for i, checked := range o.checkEach(m, s, src, file.Queries) {
		faults = append(faults, checked.faults...)
		name := file.Queries[i].Name.Value
		if q := checked.query; q != nil {
			in.Queries = append(in.Queries, lintQuery(file.Queries[i], q))
			if !seen[name] {
				queries = append(queries, q)
			}
		}
		seen[name] = true
	}
	faults.Sort()
	faults = o.withOffer(m, s, src, faults)
	in.Faults = append(faults.Cut(diag.Most), duplicates(in.Files, false)...)
	return queries, lint.Run(in), nil
}
