package compile

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Catalog is the input of Lint.
type Catalog struct {
	Schema  Source   // the schema file
	Queries []Source // the query files
	Options          // what the queries may use beside the schema

	// Selected maps the name of each stored query to the name of its source. Other queries are not
	// stored, and only the rules about single queries apply to them. If Selected is nil, all queries
	// are stored.
	Selected map[string]string

	// Whole says that no source of the catalog is missing. Rules across files run only if it is
	// set.
	Whole bool

	// Build builds the tools of the stored queries. It returns the sizes that these tools have in
	// the answer to tools/list. If no package can be generated, the sizes are nil and `faults` has
	// the errors that prevent it. Lint calls Build if the sources compile. If Build is nil, the
	// size rule has nothing to report.
	Build func(*catalog.Schema, []*Query) (sizes *lint.ToolList, faults diag.List)

	// NoProvider is the id of the graph if cluster.yaml configures no embedding provider for the
	// graph. It is "" if the graph has a provider or its configuration is not known.
	NoProvider string

	Config lint.Config // levels and options of the rules
}

// Lint compiles the sources and applies the lint rules to the queries without errors. The report
// includes the compiler's diagnostics. If the schema has errors, it contains only those.
func Lint(c Catalog) *lint.Report { return new(Linter).Lint(c).Report }

// Lint compiles all sources of a graph and applies the lint rules with their default levels. See [Lint].
func (o Options) Lint(schema Source, queries ...Source) diag.List {
	return Lint(Catalog{Schema: schema, Queries: queries, Options: o, Whole: true}).List
}

// duplicates reports names that are declared twice in one file. Unless whole is set, it also
// reports names that are declared in several files; for a whole catalog, a lint rule reports such
// names.
func duplicates(files []*syntax.File, whole bool) diag.List {
	var list diag.List
	first := map[string]diag.Span{}
	for _, f := range files {
		for _, q := range f.Queries {
			at := syntax.SpanOf(q.Name)
			before, again := first[q.Name.Value]
			if !again {
				first[q.Name.Value] = at
			} else if !whole || before.File == at.File {
				list = append(list, duplicateQuery(q.Name.Value, at, before))
			}
		}
	}
	return list
}

// crossFile reports whether two files declare the same query.
func crossFile(files []*syntax.File) bool { return duplicates(files, false).HasErrors() }

// lintQuery returns the input of the rules for one query.
func lintQuery(tree *syntax.Query, q *Query) *lint.Query {
	return &lint.Query{
		Syntax: tree, Plan: q.Plan, Info: q.Info,
		Description: q.Description, Instruction: q.Instruction, ParamDocs: q.ParamDocs, Expose: q.Expose, ToolName: q.ToolName,
	}
}

// withoutOwn removes from a schema the annotations that have no meaning for the language. It
// changes the schema and returns it.
func withoutOwn(s *catalog.Schema) *catalog.Schema {
	drop := func(props []*catalog.Property) {
		for _, p := range props {
			p.Annotations = nil
		}
	}
	for _, n := range s.Nodes {
		n.Annotations = nil
		drop(n.Properties)
	}
	for _, e := range s.Edges {
		e.Annotations = nil
		drop(e.Properties)
	}
	for _, i := range s.Interfaces {
		drop(i.Properties)
	}
	return s
}

// SameMeaning reports whether a source and its changed text compile to the same result: queries
// to the same plans and descriptions, a schema to the same types. If the name of a source ends in
// .pg, the source is a schema.
func SameMeaning(o Options, schema, src Source, after string) bool {
	changed := Source{Name: src.Name, Text: after}
	if strings.HasSuffix(src.Name, ".pg") {
		a, faults := StoredSchema(src)
		b, more := StoredSchema(changed)
		return !faults.HasErrors() && !more.HasErrors() && catalog.Digest(withoutOwn(a)) == catalog.Digest(withoutOwn(b))
	}
	s, faults := Schema(schema)
	if faults.HasErrors() {
		return false
	}
	as, faults := o.CompileQueries(s, src)
	bs, more := o.CompileQueries(s, changed)
	if faults.HasErrors() || more.HasErrors() || len(as) != len(bs) {
		return false
	}
	for i, a := range as {
		b := bs[i]
		same := plan.Format(a.Plan) == plan.Format(b.Plan) && a.Description == b.Description && a.Instruction == b.Instruction && a.MustBeEmpty == b.MustBeEmpty &&
			slices.Equal(a.ParamDocs, b.ParamDocs) && slices.Equal(a.Questions, b.Questions) && a.Expose == b.Expose && a.ToolName == b.ToolName && a.Title == b.Title &&
			(a.Idempotent == nil) == (b.Idempotent == nil) && (a.Idempotent == nil || *a.Idempotent == *b.Idempotent)
		if !same {
			return false
		}
	}
	return true
}
