package operations

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// compileLinted is like [Compile], and also returns the findings of the rules about rows.
func compileLinted(ctx context.Context, env *tool.Env, argument string, s *catalog.Schema, text string) (queries []*compile.Query, faults, findings diag.List, err error) {
	err = WithText(ctx, env, argument, text, func(limits work.Limits) (err error) {
		queries, faults, findings, err = linted(ctx, limits, compile.Options{Claims: env.Claims}, s, compile.Source{Name: sourceName, Text: text})
		return err
	})
	return queries, faults, findings, err
}

// linted compiles a text, and applies the rules about rows.
func linted(ctx context.Context, limits work.Limits, o compile.Options, s *catalog.Schema, src compile.Source) (queries []*compile.Query, faults, findings diag.List, err error) {
	queries, report, err := compile.LintWithin(ctx, limits, o, s, lint.Rows(), src)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, d := range report.List {
		if isRule(d.Code) {
			findings = append(findings, d)
		} else {
			faults = append(faults, d)
		}
	}
	return queries, faults, findings, nil
}

// isRule reports whether a code is that of a rule.
func isRule(code diag.Code) bool {
	return slices.ContainsFunc(lint.Rules, func(r lint.Rule) bool { return r.Code == code })
}

// maxFindings is the maximum number of findings in one answer.
const maxFindings = 5

// findingsOn returns the findings about a query of a text as notes. It leaves out those about a parameter
// without a value if all parameters have one.
func findingsOn(q *compile.Query, args engine.Args, list diag.List) []string {
	var notes []string
	for _, d := range list {
		at := d.Span.Start.Offset
		if at < q.Span.Start.Offset || at >= q.Span.End.Offset || d.Code == lint.NotOptional && !slices.ContainsFunc(args, value.Value.IsNull) {
			continue
		}
		if len(notes) == maxFindings {
			break
		}
		note := string(d.Code) + ": " + d.Message
		if d.Help != "" {
			note += "; " + d.Help
		}
		notes = append(notes, note)
	}
	return notes
}
