package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// noPolicy is part of the help of every verb that works on the storage folder.
const noPolicy = `The command opens the files of the storage folder with the permissions of the user who
runs it. It does not check a policy.`

// newCluster makes the command omnigraph cluster.
func newCluster() *cobra.Command {
	return group("cluster", "Check a cluster.yaml, and apply it to its storage", newClusterValidate(), newClusterPlan(), newClusterApply(), newClusterStatus())
}

// clusterFlags are the flags that select a cluster and the output format.
type clusterFlags struct {
	formatFlags
	dir string // folder of cluster.yaml
}

// flags adds the flags to a command.
func (f *clusterFlags) flags(cmd *cobra.Command) {
	f.formatFlags.flags(cmd)
	cmd.Flags().StringVar(&f.dir, "cluster", ".", "the `DIR` that holds cluster.yaml")
}

// read reads cluster.yaml.
func (f *clusterFlags) read(cmd *cobra.Command) (*cluster.Config, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	cfg, err := cluster.Read(filepath.Join(f.dir, "cluster.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w; name its folder with --cluster", err)
	}
	return cfg, err
}

// compile reads cluster.yaml and compiles the files that it names. It prints faults to standard
// error.
func (f *clusterFlags) compile(cmd *cobra.Command) (*reconcile.Cluster, *reconcile.Sources, error) {
	cfg, err := f.read(cmd)
	if err != nil {
		return nil, nil, printFaults(cmd, err)
	}
	s, found, err := reconcile.Compile(cfg)
	if err != nil {
		return nil, nil, err
	}
	showFaults(cmd, found)
	if found.HasErrors() {
		return nil, nil, fmt.Errorf("the sources of %s have errors; the command changed nothing", cfg.File)
	}
	return storageOf(cfg), s, nil
}

// storageOf returns the storage of a cluster: the folder that cluster.yaml names, with graphs of
// the embedded engine.
func storageOf(cfg *cluster.Config) *reconcile.Cluster {
	return &reconcile.Cluster{FS: fs.OS(), Storage: cfg.Storage, Engine: embedded.Engine{}}
}

// showFaults prints diagnostics together with the source lines that they refer to.
func showFaults(cmd *cobra.Command, list diag.List) {
	texts := map[string]string{}
	for _, d := range list {
		if b, err := os.ReadFile(d.Span.File); err == nil {
			texts[d.Span.File] = string(b)
		}
	}
	_ = diag.Render(cmd.ErrOrStderr(), list, texts, isTerminal(cmd.ErrOrStderr()))
}
