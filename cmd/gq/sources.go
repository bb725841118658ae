package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// schemaOf returns the schema of the graph in cluster.yaml that a .gq file belongs to.
func schemaOf(cmd *cobra.Command, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	path, cfg, err := readCluster(cmd.ErrOrStderr())
	if err != nil {
		return "", err
	}
	for _, g := range cfg.Graphs {
		for _, f := range g.QueryFiles {
			if other, err := os.Stat(f); err == nil && os.SameFile(info, other) {
				return g.Schema, nil
			}
		}
	}
	return "", fmt.Errorf("%s does not belong to a graph of %s; name its schema with --schema", file, path)
}
