package builtin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// validateArgs are the arguments of query_validate.
type validateArgs struct {
	Query  string  `json:"query" jsonschema_description:"Queries in GQ."`
	Branch *string `json:"branch,omitempty" jsonschema_description:"Default main."`
}

// ValidateAnswer is the answer of query_validate.
type ValidateAnswer struct {
	Valid       bool               `json:"valid" jsonschema_description:"The text has no errors; it may have warnings."`
	Queries     []CheckedAnswer    `json:"queries" jsonschema_description:"The queries without errors."`
	Diagnostics []DiagnosticAnswer `json:"diagnostics" jsonschema_description:"The faults in the order of the text, at most twenty."`
	More        int                `json:"more,omitempty" jsonschema_description:"How many faults are not listed."`
	Report      string             `json:"report,omitempty" jsonschema_description:"The faults with the lines that they are in."`
	Fixed       string             `json:"fixed,omitempty" jsonschema_description:"The text with every fix that can be made automatically."`
}

// CheckedAnswer is a query without errors.
type CheckedAnswer struct {
	Name    string         `json:"name"`
	Kind    string         `json:"kind" jsonschema:"enum=read,enum=mutation"`
	Params  []TypedAnswer  `json:"params"` // in the order of the query
	Columns []ColumnAnswer `json:"columns" jsonschema_description:"Of a read."`
}

// TypedAnswer is a parameter.
type TypedAnswer struct {
	Name     string `json:"name"`
	Type     string `json:"type"`     // without ?, as the language writes it
	Optional bool   `json:"optional"` // a call may leave the parameter out
}

// ColumnAnswer is a column of a read.
type ColumnAnswer struct {
	Name string `json:"name"`
	Type string `json:"type" jsonschema_description:"The type, or the members of a whole node."`
}

// DiagnosticAnswer is one fault.
type DiagnosticAnswer struct {
	Code      string `json:"code"`
	Severity  string `json:"severity" jsonschema:"enum=error,enum=warning,enum=note"`
	Line      int    `json:"line" jsonschema_description:"From 1."`
	Column    int    `json:"column" jsonschema_description:"From 1, in characters."`
	EndLine   int    `json:"end_line"`   // from 1
	EndColumn int    `json:"end_column"` // from 1; the first column after the fault
	Message   string `json:"message"`
	Help      string `json:"help,omitempty" jsonschema_description:"How to fix it."`
}

// validate returns the tool query_validate.
func validate() tool.Tool {
	return &builtin{
		desc: reader[validateArgs, ValidateAnswer](tool.Descriptor{
			Name:  "query_validate",
			Title: "Check a query",
			Description: "Checks GQ text without running it: whether it parses, its syntax and names are correct, and it compiles against the schema. " +
				"Returns each type error or mistake in a statement with a fix before you send it, and the parameters and columns of correct queries.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			text, branch := o.String("query"), named(o, "branch")
			if err := o.Done(); err != nil {
				return nil, err
			}
			return readsBranch(branch, "validate fewer queries at once", func(ctx context.Context, env *tool.Env, branch tool.Branch) (any, string, error) {
				s, err := env.Graph.Schema(ctx, branch.At())
				if err != nil {
					return nil, "", err
				}
				a, err := validated(ctx, env, s, text)
				return a, "", err
			}), nil
		},
	}
}

const (
	maxDiagnostics = 20      // number of faults listed in one answer
	queryFile      = "query" // file name of the text in diagnostics
)

// validated checks a text against a schema.
func validated(ctx context.Context, env *tool.Env, s *engine.Schema, text string) (a *ValidateAnswer, err error) {
	err = operations.WithText(ctx, env, "query", text, func(limits work.Limits) error {
		queries, report, err := compile.LintWithin(ctx, limits, compile.Options{Claims: env.Claims}, s.Catalog, operations.AdHocRules, compile.Source{Name: queryFile, Text: text})
		if err == nil {
			a = validateAnswer(text, queries, report)
		}
		return err
	})
	return a, err
}

// validateAnswer returns the answer for a text, from its correct queries and the report of its
// faults.
func validateAnswer(text string, queries []*compile.Query, report *lint.Report) *ValidateAnswer {
	list := report.List
	a := &ValidateAnswer{Valid: !list.HasErrors(), Queries: []CheckedAnswer{}, Diagnostics: []DiagnosticAnswer{}}
	for _, q := range queries {
		a.Queries = append(a.Queries, checkedAnswer(q))
	}
	if n := len(list) - maxDiagnostics; n > 0 {
		list, a.More = list[:maxDiagnostics], n
	}
	for _, d := range list {
		a.Diagnostics = append(a.Diagnostics, DiagnosticAnswer{
			Code: string(d.Code), Severity: d.Severity.String(), Message: d.Message, Help: d.Help,
			Line: d.Span.Start.Line, Column: d.Span.Start.Column, EndLine: d.Span.End.Line, EndColumn: d.Span.End.Column,
		})
	}
	var b strings.Builder
	_ = diag.Render(&b, list, map[string]string{queryFile: text}, false) // a Builder never fails
	a.Report = b.String()
	var edits []diag.Edit
	for _, i := range slices.Sorted(maps.Keys(report.Edits)) {
		edits = append(edits, report.Edits[i]...)
	}
	if fixed, _ := diag.Apply(queryFile, text, edits); fixed != text {
		a.Fixed = fixed
	}
	return a
}

// Cut drops the corrected text, then the report, and then the diagnostics. More counts the dropped
// diagnostics.
func (a *ValidateAnswer) Cut(bytes int) {
	parts := []func(){
		func() { a.Fixed = "" },
		func() { a.Report = "cut: the answer has no room for the report; validate fewer queries at once" },
		func() { a.More, a.Diagnostics = a.More+len(a.Diagnostics), []DiagnosticAnswer{} },
	}
	for _, drop := range parts {
		if b, err := encoding.JSON(a); err != nil || len(b) <= bytes {
			return
		}
		drop()
	}
}

// checkedAnswer describes a query without errors: its kind, parameters and columns.
func checkedAnswer(q *compile.Query) CheckedAnswer {
	a := CheckedAnswer{Name: q.Plan.Name, Kind: "mutation", Params: []TypedAnswer{}, Columns: []ColumnAnswer{}}
	for _, p := range q.Plan.Declared() {
		a.Params = append(a.Params, TypedAnswer{Name: p.Name, Type: p.Type.Required().String(), Optional: p.Optional()})
	}
	if q.Plan.Read == nil {
		return a
	}
	a.Kind = "read"
	for _, c := range q.Plan.Read.Columns {
		a.Columns = append(a.Columns, ColumnAnswer{Name: c.Name, Type: c.TypeText()})
	}
	return a
}
