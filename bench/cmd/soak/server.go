package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
)

const (
	graphID = "code" // id of the served graph

	// drainLimit is the time that the server allows calls to finish after SIGTERM, plus 5 s for its
	// own shutdown.
	drainLimit = 15*time.Second + 5*time.Second
)

// The actors in the policy of the served cluster: one may do everything, one reads and writes to
// its own branches, and one reads and writes its own texts.
const (
	everything = "act-dev" // may do everything
	reader     = "act-ada" // reads, and writes to its own branches
	indexer    = "act-ci"  // reads, and writes its own texts
)

// tokenOf returns the token of an actor.
func tokenOf(actor string) string { return "soak-token-of-" + actor }

// startServer makes a cluster with the graph of the repository and serves it. The graph is empty
// except for a few symbols that notes can refer to.
func startServer(ctx context.Context, dir string, o options) (*serverproc.Server, error) {
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS(filepath.Join(o.repo, "queries"))); err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(o.repo, "cluster.yaml"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "cluster.yaml"), config, 0o644); err != nil {
		return nil, err
	}
	seed := filepath.Join(dir, "seed.ndjson")
	if err := os.WriteFile(seed, []byte(symbols()), 0o644); err != nil {
		return nil, err
	}
	store := filepath.Join(dir, "data", graphID)
	for _, args := range [][]string{
		{"init", "--schema", filepath.Join(dir, "queries", graphID, "schema.pg"), "--store", store},
		{"load", "--store", store, "--data", seed, "--mode", "merge"},
	} {
		if out, err := exec.CommandContext(ctx, filepath.Join(o.bin, "omnigraph"), args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("omnigraph %s: %w\n%s", args[0], err, out)
		}
	}
	var log io.Writer
	if o.log != "" {
		file, err := os.Create(o.log)
		if err != nil {
			return nil, err
		}
		log = file // stays open until this process ends
	}
	cmd := exec.Command(filepath.Join(o.bin, "omnigraph-server"), "--cluster", dir, "--bind", "127.0.0.1:0")
	tokens := map[string]string{}
	for _, actor := range []string{everything, reader, indexer} {
		tokens[actor] = tokenOf(actor)
	}
	cmd.Env = serverproc.Environ(tokens)
	return serverproc.Start(ctx, cmd, log)
}

// numSymbols is the number of symbols that notes can be about.
const numSymbols = 50

// symbolPath returns the path of a symbol.
func symbolPath(i int) string { return fmt.Sprintf("example.com/p.F%d", i%numSymbols) }

// symbols returns the NDJSON of the symbols that notes are about.
func symbols() string {
	var b strings.Builder
	for i := range numSymbols {
		fmt.Fprintf(&b, `{"type":"Symbol","data":{"path":%q,"name":"F%d","kind":"func","exported":true,"line":%d,"words":"p f %d"}}`+"\n", symbolPath(i), i, i+1, i)
	}
	return b.String()
}
