package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// noPolicy is part of the help of every verb that works on the storage of a cluster.
const noPolicy = `The command opens the storage folder with the permissions of the user who runs it, or shared
storage with the credentials in the environment. It does not check a policy.`

// newCluster makes the command omnigraph cluster.
func newCluster() *cobra.Command {
	return usage.Group("cluster", "Check a cluster.yaml, and apply it to its storage", newClusterValidate(), newClusterPlan(), newClusterApply(), newClusterStatus(), newClusterMove(), newClusterHistory())
}

// clusterFlags are the flags that select a cluster and the output format.
type clusterFlags struct {
	formatFlags
	dir string // folder of cluster.yaml

	revision   uint64 // value of --revision; 0 for the files of cluster.yaml
	withPolicy bool   // value of --with-policy
}

// again adds the flags that select an earlier revision in place of the files.
func (f *clusterFlags) again(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.revision, "revision", 0, "apply the content of this earlier revision, which cluster history lists, in place of the files")
	cmd.Flags().BoolVar(&f.withPolicy, "with-policy", false, "with --revision, apply its policies too; without it, the policies stay. Lists the rights that actors regain")
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

// The method `on` connects to the storage of the cluster, compiles its sources, and calls the function `do`. It prints faults to
// standard error.
func (f *clusterFlags) on(cmd *cobra.Command, do func(c *reconcile.Cluster, s *reconcile.Sources) error) error {
	if f.revision > 0 || f.withPolicy || cmd.Flags().Changed("revision") {
		return f.onEarlier(cmd, do)
	}
	cfg, err := f.read(cmd)
	if err != nil {
		return terminal.PrintFaults(cmd, err)
	}
	return f.connect(cmd, cfg, func(c *reconcile.Cluster) error {
		recorded, err := c.Revision(cmd.Context())
		if err != nil {
			return err
		}
		s, found, err := reconcile.CompileWith(cfg, recorded)
		if err != nil {
			return err
		}
		showFaults(cmd, found)
		if found.HasErrors() {
			return fmt.Errorf("the sources of %s have errors; the command changed nothing", cfg.File)
		}
		return do(c, s)
	})
}

// onEarlier is like on, with the content of an earlier revision as the sources.
func (f *clusterFlags) onEarlier(cmd *cobra.Command, do func(c *reconcile.Cluster, s *reconcile.Sources) error) error {
	if f.revision == 0 {
		return usage.Errorf("--revision is missing or 0; name a revision of omnigraph cluster history")
	}
	cfg, err := f.read(cmd)
	if err != nil {
		return terminal.PrintFaults(cmd, err)
	}
	return f.connect(cmd, cfg, func(c *reconcile.Cluster) error {
		s, regained, found, err := c.Again(cmd.Context(), cfg, f.revision, f.withPolicy)
		if err != nil {
			return err
		}
		showFaults(cmd, found)
		if found.HasErrors() {
			return fmt.Errorf("the policies do not fit revision %d; the command changed nothing", f.revision)
		}
		for _, right := range regained {
			fmt.Fprintln(cmd.ErrOrStderr(), "regained:", right)
		}
		return do(c, s)
	})
}

// connect connects to the storage of a cluster, and calls the function `do`.
func (f *clusterFlags) connect(cmd *cobra.Command, cfg *cluster.Config, do func(c *reconcile.Cluster) error) (err error) {
	c, done, err := server.CommandStorage(cmd.Context(), cfg, embedded.Engine{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return do(c)
}

// showFaults prints diagnostics together with the source lines that they refer to.
func showFaults(cmd *cobra.Command, list diag.List) {
	texts := map[string]string{}
	for _, d := range list {
		if b, err := os.ReadFile(d.Span.File); err == nil {
			texts[d.Span.File] = string(b)
		}
	}
	_ = diag.Render(cmd.ErrOrStderr(), list, texts, terminal.Is(cmd.ErrOrStderr()))
}
