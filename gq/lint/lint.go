// Package lint reports what schemas and stored queries may say and probably do not
// mean, by a table of rules.
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/check"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/syntax"
	"github.com/omnigraph-go/omnigraph/gq/work"
)

// Input is what is linted: sources that were parsed and checked.
type Input struct {
	Schema     *catalog.Schema
	SchemaTree *syntax.Schema
	Files      []*syntax.File
	Queries    []*Query  // those without errors, in source order
	Faults     diag.List // what compiling found; it becomes part of the report

	// Whole says that Files are all that the graph has. Rules across files run only then,
	// and but for one only when nothing has errors: a query with an error may do what
	// they miss.
	Whole bool

	// ToolBytes is the size of each exposed query in tools/list, by query name; nil
	// when it is not known.
	ToolBytes map[string]int

	Config Config

	Meter *work.Meter // may end Run by a panic; nil for none
}

// Query is a checked query with its source and what its annotations say.
type Query struct {
	Syntax *syntax.Query
	Plan   *plan.Query
	Info   *check.Info

	Description, Instruction string
	ParamDocs                []string // by parameter
	Expose                   bool
	ToolName                 string // of @mcp, or ""
	Stored                   bool   // it belongs to the catalog; one that does not is linted by itself only
}

// Tool returns the name of the query as a tool.
func (q *Query) Tool() string { return cmp.Or(q.ToolName, q.Plan.Name) }

// Report is what linting found, sorted by file and position.
type Report struct {
	List diag.List
	// Edits are the fixes of those diagnostics that have a mechanical one, by index in
	// List. Applying them changes the meaning of no query.
	Edits map[int][]diag.Edit
}

// Run applies every rule that the configuration leaves on.
func Run(in Input) *Report {
	r := &run{in: &in, faulty: in.Faults.HasErrors()}
	for _, q := range in.Queries {
		if q.Stored {
			r.stored = append(r.stored, q)
		}
	}
	for i := range Rules {
		rule := &Rules[i]
		switch {
		case !r.runs(rule):
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

type run struct {
	in       *Input
	stored   []*Query // those of the catalog
	faulty   bool     // something has errors
	findings []finding
}

// runs reports whether a rule applies to the input.
func (r *run) runs(rule *Rule) bool {
	if r.in.Config.level(rule) == Off {
		return false
	}
	return rule.catalog == nil || r.in.Whole && (!r.faulty || rule.beside)
}

type finding struct {
	diag.Diagnostic
	edits []diag.Edit
}

// pass is one rule at work, on the whole catalog.
type pass struct {
	*run
	rule *Rule
}

// queryPass is one rule at work on one query.
type queryPass struct {
	pass
	*Query
}

// report adds a finding of the rule; edits, if any, are its fix.
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
