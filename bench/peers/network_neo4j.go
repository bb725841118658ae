package main

import (
	"context"
	"os/exec"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// openNeo4j starts the Java program of the folder neo4j, which loads the network from CSV files.
func (n *network) openNeo4j(ctx context.Context, data *snb.Network) (*networkDatabase, error) {
	if n.classes == "" {
		return nil, absent("its classes are missing; run.sh compiles them if there are mvn and javac")
	}
	csv := filepath.Join(n.dir, "csv")
	if err := data.WriteCSV(csv); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "java", "-Xmx4g", "-cp", n.classes+":"+filepath.Join(n.classes, "lib", "*"), "Network",
		filepath.Join(n.dir, "neo4j"), csv, filepath.Join(n.classes, "reads.cypher"))
	p, err := startNetworkProgram(cmd)
	if err != nil {
		return nil, err
	}
	return &networkDatabase{
		prepare: func(_ context.Context, read string) (statement, error) {
			return func(_ context.Context, args []any, keep *[][]any) (int, error) {
				rows, _, err := p.call(read, args[0].(string), keep)
				return rows, err
			}, nil
		},
		convert: func(_ string, args []any) []any { return []any{tabbed(args)} },
		close:   p.stop,
	}, nil
}
