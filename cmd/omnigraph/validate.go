package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newValidate) }

// newValidate makes the command omnigraph validate.
func newValidate() *cobra.Command {
	var f graphFlags
	var file string
	var at engine.Target
	cmd := &cobra.Command{
		Use:   "validate (--store DIR | --server URL --graph ID) --query FILE",
		Short: "Check the queries of a .gq file against the schema of a graph",
		Long: `Check the queries of a .gq file, or of standard input, against the schema of a graph,
without running them. For each query without errors, the report lists its parameters, its
columns, and the types and properties that it reads and writes. The command prints the
errors with their lines to standard error. The exit code is 1 if there are errors.

With --branch or --at, validate uses the schema of that branch or commit: this shows
whether the queries fit a schema that you applied on a branch.`,
		Example: "  omnigraph validate --store data/people --query people.gq\n" +
			"  omnigraph validate --server http://127.0.0.1:8080 --graph people --branch feature --query people.gq --format table",
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "query"); err != nil {
				return err
			}
			src, err := querySource(cmd, file)
			if err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				schema, err := s.graph.Schema(ctx, readOptions(at)...)
				if err != nil {
					return nil, err
				}
				// The graph accepted this text, so a fault in it is not a fault of the query.
				catalog, faults := compile.StoredSchema(compile.Source{Name: "schema", Text: schema.SchemaSource})
				if err := faults.Err(); err != nil {
					return nil, fmt.Errorf("this version of omnigraph cannot read the schema of the graph; use a newer version: %w", err)
				}
				queries, faults := compile.Options{Claims: claimsHere()}.CompileQueries(catalog, src)
				return validateReport(cmd.ErrOrStderr(), src, queries, faults)
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&file, "query", "", "the .gq file, or - for standard input")
	atFlags(cmd, &at.Branch, &at.Commit)
	return cmd
}

// querySource reads the text of a .gq file, or standard input if `file` is "-".
func querySource(cmd *cobra.Command, file string) (compile.Source, error) {
	if file == "-" {
		b, err := io.ReadAll(cmd.InOrStdin())
		return compile.Source{Name: "standard input", Text: string(b)}, err
	}
	b, err := os.ReadFile(file)
	return compile.Source{Name: file, Text: string(b)}, err
}

// validity is the answer of validate.
type validity struct {
	Valid       bool         `json:"valid"`       // the file has no errors
	Queries     []validQuery `json:"queries"`     // the queries without errors
	Diagnostics diag.List    `json:"diagnostics"` // errors and warnings
}

// validQuery is a query without errors.
type validQuery struct {
	Name    string      `json:"name"`    // name of the query
	Kind    string      `json:"kind"`    // read or mutation
	Params  []typedName `json:"params"`  // parameters in order
	Columns []typedName `json:"columns"` // columns of the result
	Reads   []usedType  `json:"reads"`   // types and properties that the query reads
	Writes  []usedType  `json:"writes"`  // types and properties that the query writes
}

// typedName is a parameter or a column.
type typedName struct {
	Name string `json:"name"` // name of the parameter or column
	Type string `json:"type"` // its type as in GQ
}

// usedType is a type, or a property of a type.
type usedType struct {
	Entity   string `json:"entity"`             // node or edge
	Type     string `json:"type"`               // name of the type
	Property string `json:"property,omitempty"` // empty if the query uses only the type
}

// validateReport prints the faults to w and reports the queries without errors.
func validateReport(w io.Writer, src compile.Source, queries []*compile.Query, faults diag.List) (*report, error) {
	v := &validity{Valid: !faults.HasErrors(), Queries: []validQuery{}, Diagnostics: append(diag.List{}, faults...)}
	r := &report{doc: v, columns: columns("name", "kind", "params", "columns", "reads", "writes"), objects: []any{}}
	for _, q := range queries {
		answer := describeValid(q)
		v.Queries = append(v.Queries, answer)
		r.objects = append(r.objects, answer)
		r.rows = append(r.rows, answer.line())
	}
	if err := diag.Render(w, faults, map[string]string{src.Name: src.Text}, terminal.Is(w)); err != nil {
		return nil, err
	}
	if v.Valid {
		r.note = plural(int64(len(queries)), "query") + ", no errors"
		return r, nil
	}
	count := int64(0)
	for _, d := range faults {
		if d.Severity == diag.Error {
			count++
		}
	}
	return r, fmt.Errorf("%s has %s; correct the marked lines", src.Name, plural(count, "error"))
}

// describeValid describes a query without errors.
func describeValid(q *compile.Query) validQuery {
	a := validQuery{Name: q.Plan.Name, Kind: "mutation", Params: []typedName{}, Columns: []typedName{}, Reads: []usedType{}, Writes: []usedType{}}
	for _, p := range q.Plan.Declared() {
		a.Params = append(a.Params, typedName{p.Name, p.Type.String()})
	}
	for _, u := range q.Plan.Uses {
		list := &a.Reads
		if u.Write {
			list = &a.Writes
		}
		*list = append(*list, usedType{u.Entity.String(), u.Type, u.Property})
	}
	if q.Plan.Read == nil {
		return a
	}
	a.Kind = "read"
	for _, c := range q.Plan.Read.Columns {
		a.Columns = append(a.Columns, typedName{c.Name, c.TypeText()})
	}
	return a
}

// line returns the query as a row of a table, with each list in one cell.
func (q *validQuery) line() map[string]string {
	typed := func(list []typedName) string {
		return strings.Join(mapped(list, func(t typedName) string { return t.Name + ": " + t.Type }), ", ")
	}
	used := func(list []usedType) string {
		return strings.Join(mapped(list, func(u usedType) string {
			return strings.TrimSuffix(u.Type+"."+u.Property, ".")
		}), ", ")
	}
	return map[string]string{
		"name": q.Name, "kind": q.Kind, "params": typed(q.Params), "columns": typed(q.Columns), "reads": used(q.Reads), "writes": used(q.Writes),
	}
}
