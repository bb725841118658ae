package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// newClusterValidate makes the command omnigraph cluster validate.
func newClusterValidate() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check cluster.yaml and the schemas, queries and policies that it names",
		Long: `Check cluster.yaml and the schemas, queries and policies that it names, and print every
error with its position. The command does not read the storage folder. gq generate accepts
all sources that this command accepts. With --format json the report lists the errors.`,
		Example: "  omnigraph cluster validate\n  omnigraph cluster validate --cluster . --format json",
		Args:    usage.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.validate(cmd) },
	}
	f.flags(cmd)
	return cmd
}

// sourceAnswer is the result of cluster validate for one graph.
type sourceAnswer struct {
	GraphID      string `json:"graph_id"`      // id of the graph
	Schema       string `json:"schema"`        // path of the schema file
	SchemaDigest string `json:"schema_digest"` // identifies the compiled schema
	NodeTypes    int    `json:"node_types"`    // number of node types
	EdgeTypes    int    `json:"edge_types"`    // number of edge types
	Queries      int    `json:"queries"`       // number of stored queries
}

// validate runs cluster validate.
func (f *clusterFlags) validate(cmd *cobra.Command) error {
	cfg, err := f.read(cmd)
	var s *reconcile.Sources
	var found diag.List
	if err == nil {
		s, found, err = reconcile.Compile(cfg)
	}
	if err != nil && !errors.As(err, &found) {
		return err
	}
	graphs := []sourceAnswer{}
	note := ""
	if s != nil {
		for _, g := range s.Graphs {
			graphs = append(graphs, sourceAnswer{g.ID, g.File, g.Digest, len(g.Schema.Nodes), len(g.Schema.Edges), len(g.Queries)})
		}
		note = plural(int64(len(s.Policies)), "policy") + "; everything is valid"
	}
	doc := struct {
		Valid       bool           `json:"valid"`
		Graphs      []sourceAnswer `json:"graphs"`
		diag.Report                // embedded, so that its fields become fields of this object
	}{!found.HasErrors(), graphs, diag.NewReport(found, nil)}
	r := &report{doc: doc, columns: columns("graph_id", "schema", "node_types", "edge_types", "queries"), rows: rowsOf(graphs), note: note}
	showFaults(cmd, found)
	if !found.HasErrors() {
		return f.print(cmd, r)
	}
	err = fmt.Errorf("%s and the files that it names have %s", filepath.Join(f.dir, "cluster.yaml"), plural(int64(doc.Errors), "error"))
	if asJSON := f.asJSON || f.name == "json" || f.name == "" && !terminal.Is(cmd.OutOrStdout()); asJSON {
		return errors.Join(f.print(cmd, r), err)
	}
	return err // the other formats have no place for faults
}
