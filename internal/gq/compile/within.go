package compile

import (
	"context"
	"path"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// The functions of this file are for untrusted texts. Each runs on the calling goroutine. It stops
// within milliseconds after its context ends and then returns the error of the context. If a text
// has more parts than the limits allow, the error is a *[work.TooMany].

// SchemaWithin is [Schema] within a context and limits.
func SchemaWithin(ctx context.Context, limits work.Limits, src Source) (s *catalog.Schema, faults diag.List, err error) {
	defer work.Catch(&err)
	s, faults = schemaOf(work.New(ctx, limits), src)
	return s, faults, nil
}

// CompileQueriesWithin is [Options.CompileQueries] within a context and limits.
func (o Options) CompileQueriesWithin(ctx context.Context, limits work.Limits, s *catalog.Schema, sources ...Source) (queries []*Query, faults diag.List, err error) {
	defer work.Catch(&err)
	m := work.New(ctx, limits)
	queries, faults = o.compileQueries(m, s, sources)
	if len(sources) == 1 {
		faults = o.withOffer(m, s, sources[0], faults)
	}
	return queries, faults, nil
}

// FormatWithin is [Format] within a context and limits.
func FormatWithin(ctx context.Context, limits work.Limits, src Source) (text string, faults diag.List, err error) {
	defer work.Catch(&err)
	m := work.New(ctx, limits)
	if path.Ext(src.Name) == ".pg" {
		text, faults = format.SchemaWithin(m, src.Name, src.Text)
	} else {
		text, faults = format.QueriesWithin(m, src.Name, src.Text)
	}
	return text, faults, nil
}

// LintWithin compiles a source against a schema and applies the lint rules for single
// queries, within a context and limits. It returns the queries without errors, as
// [Options.CompileQueries] does, and a report that includes the compiler's diagnostics.
func LintWithin(ctx context.Context, limits work.Limits, o Options, s *catalog.Schema, config lint.Config, src Source) (queries []*Query, report *lint.Report, err error) {
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
