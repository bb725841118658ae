// Package lint applies a table of rules to schemas and stored queries. It reports text that is
// valid and probably not intended.
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Input holds the parsed and checked sources to lint.
type Input struct {
	Schema     *catalog.Schema // compiled from SchemaTree
	SchemaTree *syntax.Schema  // the parsed schema
	Files      []*syntax.File  // the parsed query files
	Queries    []*Query        // those without errors, in source order
	Faults     diag.List       // the faults that compiling found; they become part of the report

	// Whole says that Files is the complete set of the graph's query files. Rules across files run
	// only if it is set. All but one of them also need sources without errors, because a query with
	// an error may contain the use that the rule finds missing.
	Whole bool

	ToolList *ToolList // nil if the sizes are not known

	// NoProvider is the id of the graph if cluster.yaml configures no embedding provider for the
	// graph. It is "" if the graph has a provider or its configuration is not known.
	NoProvider string

	Config Config // levels and options of the rules

	Meter *work.Meter // may panic to end Run; nil for no limits
}

// ToolList holds sizes of the answer to tools/list, for a caller who may use all tools.
type ToolList struct {
	Tools int // the number of tools: the built-in ones, and those of stored queries or the meta tools
	Bytes int // of the whole answer

	Reading int // bytes of the tools of the set read, and of the instructions, for an agent that reads

	// Queries maps the name of each exposed query to the bytes of its tool in the answer. It is
	// empty if the meta tools stand for the queries.
	Queries map[string]int
}

// Query is a checked query with its source and the contents of its annotations.
type Query struct {
	Syntax *syntax.Query // the source of the query
	Plan   *plan.Query   // the compiled query
	Info   *check.Info   // facts that the checker collected

	Description, Instruction string   // text of the annotations
	ParamDocs                []string // by parameter index
	Expose                   bool     // MCP clients see the query
	ToolName                 string   // from @mcp, or ""
	Stored                   bool     // one of the stored queries of the catalog; see compile.Catalog
}

// Tool returns the name under which the query is exposed as a tool.
func (q *Query) Tool() string { return cmp.Or(q.ToolName, q.Plan.Name) }

// Report is the result of linting, sorted by file and position.
type Report struct {
	List diag.List // what the rules and the compiler found
	// Edits maps indexes in List to the fixes of the diagnostics that have a mechanical fix.
	// Applying the fixes does not change the meaning of any query.
	Edits map[int][]diag.Edit
}

// Run applies every rule that the configuration does not turn off.
func Run(in Input) *Report {
	r := &run{in: &in, hasFaults: in.Faults.HasErrors()}
	for _, q := range in.Queries {
		if q.Stored {
			r.stored = append(r.stored, q)
		}
	}
	for i := range Rules {
		rule := &Rules[i]
		switch {
		case !r.applies(rule):
		case rule.query != nil:
			for _, q := range in.Queries {
				in.Meter.Step(1)
				rule.query(&queryPass{pass{r, rule}, q})
			}
		case rule.catalog != nil:
			rule.catalog(&pass{r, rule})
		}
	}
	r.silence()
	for _, d := range in.Faults {
		r.findings = append(r.findings, finding{Diagnostic: d})
	}
	slices.SortStableFunc(r.findings, func(a, b finding) int {
		in.Meter.Step(1)
		return cmp.Or(cmp.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Code, b.Code))
	})
	out := &Report{Edits: map[int][]diag.Edit{}}
	for i, f := range r.findings {
		out.List = append(out.List, f.Diagnostic)
		if f.edits != nil {
			out.Edits[i] = f.edits
		}
	}
	return out
}

// run is one run of the rules over an input.
type run struct {
	in        *Input
	stored    []*Query  // the queries that belong to the catalog
	hasFaults bool      // the sources have errors
	findings  []finding // found so far
}

// applies reports whether a rule applies to the input.
func (r *run) applies(rule *Rule) bool {
	if r.in.Config.level(rule) == Off {
		return false
	}
	return rule.catalog == nil || r.in.Whole && (!r.hasFaults || rule.despiteFaults)
}

// finding is a diagnostic of a rule with the edits that fix it, if any.
type finding struct {
	diag.Diagnostic
	edits []diag.Edit // nil if there is no mechanical fix
}

// pass is one application of a rule to the whole catalog.
type pass struct {
	*run
	rule *Rule // the rule that is applied
}

// queryPass is one application of a rule to one query.
type queryPass struct {
	pass
	*Query
}

// report adds a finding of the rule. `edits` is the fix of the finding, or nil.
func (p *pass) report(at diag.Span, help string, edits []diag.Edit, format string, args ...any) {
	p.in.Meter.Step(1)
	p.findings = append(p.findings, finding{
		Diagnostic: diag.Diagnostic{
			Code: p.rule.Code, Severity: p.in.Config.level(p.rule).severity(), Span: at,
			Message: fmt.Sprintf(format, args...), Help: help,
		},
		edits: edits,
	})
}
