package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// schemaOf returns the schema of the graph in cluster.yaml that a .gq file belongs to, and the claims that queries may use there.
func schemaOf(cmd *cobra.Command, file string) (string, plan.Claims, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", nil, err
	}
	path, cfg, err := readCluster(cmd.ErrOrStderr())
	if err != nil {
		return "", nil, err
	}
	for _, g := range cfg.Graphs {
		for _, f := range g.QueryFiles {
			if other, err := os.Stat(f); err == nil && os.SameFile(info, other) {
				return g.Schema, cfg.Server.Claims, nil
			}
		}
	}
	return "", nil, fmt.Errorf("%s does not belong to a graph of %s; name its schema with --schema", file, path)
}
