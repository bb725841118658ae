// Package compile compiles and lints graph schemas (.pg) and stored queries (.gq) with the packages beside it. Package gq
// offers a part of it to other modules.
package compile

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Source is a text and the name that diagnostics use for it.
type Source struct{ Name, Text string }

// Query is a checked query with its source and the contents of its annotations.
type Query struct {
	Plan *plan.Query // the compiled query
	Info *check.Info // the positions of its parameters and variables
	File string      // name of the source
	Span diag.Span   // the whole query in File
	Text string      // source of this query alone

	Description, Instruction string   // texts of @description and @instruction
	Questions                []string // texts of @question
	MustBeEmpty              string   // text of @must_be_empty, or ""
	ParamDocs                []string // by index of the declared parameters; "" without a @description
	Expose                   bool     // true unless @mcp(expose: false)
	ToolName, Title          string   // from @mcp, or ""
	Idempotent               *bool    // from @mcp, or nil

	Places Places // for diagnostics about generated code
}

// Places holds the spans of the parts of a query that have names in generated code.
type Places struct {
	Name     diag.Span   // the name of the query
	ToolName diag.Span   // the value of @mcp(tool_name: …), or Name
	Columns  []diag.Span // the alias of each column of a read, or else its expression
}

// Schema parses and resolves a schema. The schema is nil if the list has errors.
func Schema(src Source) (*catalog.Schema, diag.List) { return schemaOf(nil, src) }

// StoredSchema is Schema for a text that a graph has stored. It accepts annotations
// that an earlier version of the language accepted.
func StoredSchema(src Source) (*catalog.Schema, diag.List) {
	tree, faults := syntax.ParseSchema(src.Name, src.Text)
	s, more := resolve.Schema(tree)
	more = slices.DeleteFunc(more, func(d diag.Diagnostic) bool { return slices.Contains(resolve.StoredAnnotations, d.Code) })
	if faults = append(faults, more...); faults.HasErrors() {
		faults.Sort()
		return nil, faults
	}
	return s, faults
}

// schemaOf does the work of Schema and counts it with a meter. The meter may panic to
// end the work. It may be nil.
func schemaOf(m *work.Meter, src Source) (*catalog.Schema, diag.List) {
	tree, faults := syntax.ParseSchemaWithin(m, src.Name, src.Text)
	s, more := resolve.SchemaWithin(m, tree)
	faults = append(faults, more...)
	faults.Sort()
	faults = faults.Cut(diag.Most)
	if faults.HasErrors() {
		return nil, faults
	}
	return s, faults
}

// Options say what queries may use beside the types of a schema. The zero value has no claims.
type Options struct {
	// Claims are the claims of callers that queries may use, as actor().NAME.
	Claims plan.Claims
}

// CompileQueries parses and checks the queries of a graph and returns them in source order,
// without the queries that have errors. The list has the errors of all sources, sorted by file
// and position.
func (o Options) CompileQueries(s *catalog.Schema, sources ...Source) ([]*Query, diag.List) {
	return o.compileQueries(nil, s, sources)
}

// compileQueries does the work of CompileQueries and counts it with a meter. The meter may panic to
// end the work. It may be nil.
func (o Options) compileQueries(m *work.Meter, s *catalog.Schema, sources []Source) ([]*Query, diag.List) {
	var out []*Query
	var all diag.List
	first := map[string]diag.Span{}
	for _, src := range sources {
		file, list := syntax.ParseQueriesWithin(m, src.Name, src.Text)
		checked := o.checkEach(m, s, src, file.Queries)
		for i, q := range file.Queries {
			list = append(list, checked[i].faults...)
			at := syntax.SpanOf(q.Name)
			if other, again := first[q.Name.Value]; again {
				list = append(list, duplicateQuery(q.Name.Value, at, other))
				continue
			}
			first[q.Name.Value] = at
			if checked[i].query != nil {
				out = append(out, checked[i].query)
			}
		}
		list.Sort()
		all = append(all, list.Cut(diag.Most)...)
	}
	all.Sort()
	return out, all
}

// checkedQuery is the result of checking one query.
type checkedQuery struct {
	query  *Query    // nil if the query has errors
	faults diag.List // its diagnostics
}

// batch is the number of queries that one goroutine checks at a time. It is large enough to make
// the cost of scheduling negligible.
const batch = 32

// checkEach checks queries, several batches concurrently, and returns the result for each query.
// With a meter, it checks everything on the calling goroutine, because a meter is not safe for
// concurrent use.
func (o Options) checkEach(m *work.Meter, s *catalog.Schema, src Source, queries []*syntax.Query) []checkedQuery {
	out := make([]checkedQuery, len(queries))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(queries); from += batch {
		run := func() error {
			for i := from; i < min(from+batch, len(queries)); i++ {
				p, info, faults := check.QueryWithin(m, s, o.Claims, queries[i])
				out[i].faults = faults
				if p != nil {
					out[i].query = describe(src, queries[i], p, info)
				}
			}
			return nil
		}
		if len(queries) <= batch || m != nil {
			run()
			continue
		}
		g.Go(run)
	}
	g.Wait()
	return out
}

// duplicateQuery reports a query name that was declared before.
func duplicateQuery(name string, at, first diag.Span) diag.Diagnostic {
	return diag.Diagnostic{
		Code: check.DuplicateName, Span: at,
		Message: fmt.Sprintf("duplicate query %s, first declared at %s", name, first),
		Help:    "rename one of them",
	}
}

// describe collects the contents of a query's annotations.
func describe(src Source, q *syntax.Query, p *plan.Query, info *check.Info) *Query {
	at := q.Span()
	d := &Query{
		Plan: p, Info: info, File: src.Name, Span: at, Expose: true,
		Text:      src.Text[at.Start.Offset:at.End.Offset],
		ParamDocs: make([]string, len(q.Params)), Places: places(q),
	}
	for i, prm := range q.Params {
		for _, a := range prm.Annotations {
			if a.Name().Value == "description" {
				d.ParamDocs[i] = syntax.Text(*a.Text)
			}
		}
	}
	for _, a := range q.Annotations {
		switch a.Name.Value {
		case "description":
			d.Description = syntax.Text(a.Text)
		case "instruction":
			d.Instruction = syntax.Text(a.Text)
		case "question":
			d.Questions = append(d.Questions, syntax.Text(a.Text))
		case "must_be_empty":
			d.MustBeEmpty = syntax.Text(a.Text)
		}
		for _, arg := range a.MCP {
			flag := arg.Flag.Value == "true"
			switch {
			case arg.Key.Value == "expose":
				d.Expose = flag
			case arg.Key.Value == "idempotent":
				d.Idempotent = &flag
			case arg.TKey.Value == "tool_name":
				d.ToolName = syntax.Text(arg.Value)
				d.Places.ToolName = syntax.SpanOf(arg.Value)
			case arg.TKey.Value == "title":
				d.Title = syntax.Text(arg.Value)
			}
		}
	}
	return d
}
