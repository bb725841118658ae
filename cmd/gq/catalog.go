package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// catalogCommand makes the command gq catalog.
func catalogCommand() *cobra.Command {
	var c cataloger
	cmd := &cobra.Command{
		Use:   "catalog [--graph NAME] [--schema FILE --queries DIR|FILE…] [--format table|json]",
		Short: "Print the types and the stored queries of a graph",
		Long: `Compile the sources of a graph and print the result: the node and edge types with their
properties and constraints, and the stored queries with their parameters and columns.

A reader of the output does not need the sources of the graph. The table is for people. The
JSON is for programs, such as code generators for other languages; it has the same form as
generated/<graph>/catalog.json, with the types added, and gq breaking --against accepts
it. Types and constraints are written as in a schema.

Without --schema the command reads cluster.yaml in the current directory or a parent.`,
		Example: `  gq catalog
  gq catalog --graph code --format json
  gq catalog --schema queries/code/schema.pg --queries queries/code --format table`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&c.graph, "graph", "", "the `NAME` of the graph (default: the only one)")
	f.StringVar(&c.schema, "schema", "", "the schema `FILE` (.pg)")
	f.StringSliceVar(&c.queries, "queries", nil, "a .gq file or a folder of .gq files at `PATH`")
	f.StringVar(&c.format, "format", "", "the format of the output: table or json (default: table on a terminal, json elsewhere)")
	return cmd
}

// cataloger runs gq catalog with the values of its flags.
type cataloger struct {
	graph, schema, format string   // values of --graph, --schema and --format
	queries               []string // values of --queries
}

// catalogDoc is the JSON form of a catalog: the contract, and the types.
type catalogDoc struct {
	*codegen.Contract
	Nodes []catalogType `json:"nodes"` // the node types
	Edges []catalogType `json:"edges"` // the edge types
}

// catalogType is a node type, or an edge type, which also has From and To.
type catalogType struct {
	Name string `json:"name"`           // name of the type
	From string `json:"from,omitempty"` // the node type where an edge starts
	To   string `json:"to,omitempty"`
	// FromInterface and ToInterface say that From or To is the name of an interface.
	FromInterface bool              `json:"from_interface,omitempty"`
	ToInterface   bool              `json:"to_interface,omitempty"`
	Description   string            `json:"description,omitempty"`
	Implements    []string          `json:"implements,omitempty"` // names of the interfaces
	Properties    []catalogProperty `json:"properties"`
	Constraints   []string          `json:"constraints"` // as written in the schema
}

// catalogProperty is a property of a type.
type catalogProperty struct {
	Name        string `json:"name"` // name of the property
	Type        string `json:"type"` // as written in the schema
	Description string `json:"description,omitempty"`
	EmbedOf     string `json:"embed_of,omitempty"` // the property from which the vector is computed
}

// run runs gq catalog.
func (c *cataloger) run(cmd *cobra.Command) error {
	if !slices.Contains([]string{"", "table", "json"}, c.format) {
		return &usageError{cmd, fmt.Errorf("--format is %q; use table or json", c.format)}
	}
	g := generator{stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr()}
	j, err := c.job(cmd, &g)
	if err != nil {
		return err
	}
	ok, err := g.compile(j)
	if err != nil {
		return err
	}
	if !ok {
		return &reportedError{}
	}
	doc, err := newCatalogDoc(j.output)
	if err != nil {
		return err
	}
	if c.format == "table" || c.format == "" && isTerminal(cmd.OutOrStdout()) {
		return doc.table(cmd.OutOrStdout())
	}
	text, err := contract.Encode(doc)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}

// job finds the graph whose catalog is to be printed.
func (c *cataloger) job(cmd *cobra.Command, g *generator) (*job, error) {
	if c.schema != "" {
		files, err := queryFiles(c.queries)
		if err != nil {
			return nil, err
		}
		cfg, err := readConfig(".", g.stderr)
		return &job{graph: cmp.Or(c.graph, "graph"), schema: c.schema, queries: files, strict: cfg.Strict}, err
	}
	if c.queries != nil {
		return nil, &usageError{cmd, errors.New("--schema and --queries must be given together; omit both to read cluster.yaml")}
	}
	jobs, err := g.clusterJobs()
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range jobs {
		if jobs[i].graph == c.graph || c.graph == "" && len(jobs) == 1 {
			jobs[i].noProvider = false // gq generate warns of a missing provider, so this command does not
			return &jobs[i], nil
		}
		names = append(names, jobs[i].graph)
	}
	if c.graph == "" {
		return nil, &usageError{cmd, fmt.Errorf("--graph is missing, and %s has more than one graph; choose one of %s", clusterFile, strings.Join(names, ", "))}
	}
	return nil, fmt.Errorf("%s has no graph %q; choose one of %s", clusterFile, c.graph, strings.Join(names, ", "))
}

// newCatalogDoc returns the JSON form of a generated package.
func newCatalogDoc(out *codegen.Output) (*catalogDoc, error) {
	promise, err := readContract(out.Package[codegen.ContractFile], codegen.ContractFile)
	if err != nil {
		return nil, err
	}
	doc := &catalogDoc{Contract: promise, Nodes: []catalogType{}, Edges: []catalogType{}}
	for _, n := range out.Schema.Nodes {
		doc.Nodes = append(doc.Nodes, catalogType{
			Name: n.Name, Description: n.Description, Implements: n.Implements,
			Properties: catalogProperties(n.Properties), Constraints: append([]string{}, n.Rules()...),
		})
	}
	for _, e := range out.Schema.Edges {
		doc.Edges = append(doc.Edges, catalogType{
			Name: e.Name, From: e.From, To: e.To, FromInterface: e.FromInterface, ToInterface: e.ToInterface, Description: e.Description,
			Properties: catalogProperties(e.Properties), Constraints: append([]string{}, e.Rules()...),
		})
	}
	return doc, nil
}

// catalogProperties returns the JSON form of properties.
func catalogProperties(props []*catalog.Property) []catalogProperty {
	all := make([]catalogProperty, len(props))
	for i, p := range props {
		all[i] = catalogProperty{Name: p.Name, Type: p.Type.String(), Description: p.Description}
		if p.Embed != nil {
			all[i].EmbedOf = p.Embed.Source
		}
	}
	return all
}

// table prints a catalog for human readers: names and types, without descriptions.
func (d *catalogDoc) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	for _, t := range d.Nodes {
		t.table(w, "node "+t.Name)
	}
	for _, t := range d.Edges {
		t.table(w, fmt.Sprintf("edge %s: %s -> %s", t.Name, t.From, t.To))
	}
	for _, q := range d.Queries {
		var params, columns []string
		for _, p := range q.Params {
			mark := ""
			if p.Optional {
				mark = "?"
			}
			params = append(params, "$"+p.Name+": "+p.Type+mark)
		}
		for _, c := range q.Columns {
			columns = append(columns, c.Name)
		}
		does := "reads " + strings.Join(columns, ", ")
		if q.Mutation {
			does = "writes"
		}
		switch {
		case !q.Exposed:
			does += "; no tool"
		case q.Tool != q.Name:
			does += "; the tool " + q.Tool
		}
		fmt.Fprintf(w, "query %s(%s)\n\t%s\n", q.Name, strings.Join(params, ", "), does)
	}
	return w.Flush()
}

// table prints a type: one line for the type, for each property and for each constraint.
func (t *catalogType) table(w io.Writer, head string) {
	fmt.Fprintln(w, head)
	for _, p := range t.Properties {
		fmt.Fprintf(w, "\t%s\t%s\n", p.Name, p.Type)
	}
	for _, c := range t.Constraints {
		fmt.Fprintf(w, "\t%s\n", c)
	}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
