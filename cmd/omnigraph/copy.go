package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// newCopy makes the command omnigraph copy.
func newCopy() *cobra.Command {
	var f copyFlags
	cmd := &cobra.Command{
		Use:   "copy SOURCE TARGET",
		Short: "Copy a graph between folders and shared storage, while servers use it",
		Long: `Copy a graph to a new place. SOURCE and TARGET are each the folder of a graph, or the URL of
shared storage; for shared storage, --graph names the graph. Servers can use the source
meanwhile, and can also write to it: the copy is the graph at one moment, with every write
that was acknowledged before the command began.

All branches, the history, the proposals and the idempotency keys of the last day are
copied. Policies, tokens and stored queries are not part of a graph, so copy them yourself.

The command reads the whole copy again and compares it with the source. The target appears
only after that: if the command fails or is killed, there is no target.

With --with-audit, the audit trail of the source's storage is copied to the storage of the
target first, and its chains of hashes are checked. It has the calls to all graphs there. If
the target's storage has an earlier copy of the trail, the command adds what is new.
` + noPolicy,
		Example: `  omnigraph copy data/people backup/people
  omnigraph copy data/people 's3://team-graphs/prod?region=eu-central-1' --graph people
  omnigraph copy 's3://team-graphs/prod?region=eu-central-1' data/people --graph people`,
		Args: sourceAndTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0], args[1], func(context.Context, *embedded.View) (string, error) { return "", nil })
		},
	}
	f.flags(cmd)
	return cmd
}

// sourceAndTarget requires the arguments SOURCE and TARGET.
func sourceAndTarget(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usage.Errorf("%s takes a source and a target, but %d arguments were given; see %[1]s --help", cmd.CommandPath(), len(args))
	}
	return nil
}

// copyFlags are the flags of copy and restore.
type copyFlags struct {
	formatFlags
	graph       string // id of the source in shared storage, and of the target unless targetGraph is set
	targetGraph string // id of the target in shared storage
	withAudit   bool   // whether to copy the audit trail of the storage too
}

// flags adds the flags to a command. The arguments of the command are completed with folders.
func (f *copyFlags) flags(cmd *cobra.Command) {
	f.formatFlags.flags(cmd)
	cmd.Flags().StringVar(&f.graph, "graph", "", "the id of the graph in shared storage")
	cmd.Flags().StringVar(&f.targetGraph, "target-graph", "", "the id of the new graph in shared storage, if it differs from --graph")
	cmd.Flags().BoolVar(&f.withAudit, "with-audit", false, "also copy the audit trail, which has the calls to all graphs of the storage")
	_ = cmd.RegisterFlagCompletionFunc("graph", cobra.NoFileCompletions)
	cmd.ValidArgsFunction = folders
}

// copyAnswer is the result of copy and restore.
type copyAnswer struct {
	Source   string `json:"source"`          // folder or URL of the source
	Target   string `json:"target"`          // folder or URL of the new graph
	Graph    string `json:"graph,omitempty"` // id of the new graph, if it is in shared storage
	Head     string `json:"head"`            // id of the last commit of main
	HeadTime int64  `json:"created_at"`      // when the commit Head was made, in Unix microseconds
	Branches int    `json:"branches"`        // number of branches of the new graph
	Bytes    int64  `json:"bytes"`           // size of the segments of the source

	AuditRecords *uint64 `json:"audit_records,omitempty"` // number of records of the audit trail, if it was copied
}

// run makes a copy of a graph and prints the result. The function `at` returns the commit to which the
// copy goes back, or "" for a complete copy.
func (f *copyFlags) run(cmd *cobra.Command, source, target string, at func(context.Context, *embedded.View) (string, error)) (err error) {
	if err := f.formatFlags.check(); err != nil {
		return err
	}
	if err := f.checkGraphs(source, target); err != nil {
		return err
	}
	ctx := cmd.Context()
	v, done, err := f.view(ctx, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close(), done()) }()
	commit, err := at(ctx, v)
	if err != nil {
		return err
	}
	a := &copyAnswer{Source: shownPlace(source), Target: shownPlace(target), Graph: f.targetGraph, Bytes: v.Bytes()}
	if f.withAudit {
		if a.AuditRecords, err = copyTrail(ctx, source, target); err != nil {
			return err
		}
	}
	if address.Is(target) {
		err = f.copyToShared(ctx, v, target, commit, a)
	} else {
		err = copyToFolder(ctx, v, target, commit, a)
	}
	if err != nil {
		return err
	}
	columns := []string{"target", "head", "created_at", "branches", "bytes"}
	if a.AuditRecords != nil {
		columns = append(columns, "audit_records")
	}
	return f.print(cmd, single(a, "the copy was verified", columns...))
}

// copyTrail copies the audit trail of the storage of the source to that of the target, checks the copy, and returns the number of its
// records.
func copyTrail(ctx context.Context, source, target string) (*uint64, error) {
	from, done, err := openTrail(ctx, storageOf(source))
	if err != nil {
		return nil, err
	}
	defer done()
	to, closeTo, err := makeTrail(ctx, storageOf(target))
	if err != nil {
		return nil, err
	}
	defer closeTo()
	n, err := from.Copy(ctx, to)
	if err != nil {
		return nil, err
	}
	chains, err := to.Verify(ctx)
	if err != nil {
		return nil, err
	}
	_, broken := chainsReport(chains)
	return &n, broken
}

// storageOf returns the storage folder of a graph, or the URL of shared storage.
func storageOf(graph string) string {
	if address.Is(graph) {
		return graph
	}
	return filepath.Dir(filepath.Clean(graph))
}

// shownPlace returns the folder, or the URL of shared storage without passwords, for the answer.
func shownPlace(text string) string {
	if address.Is(text) {
		return address.Redacted(text)
	}
	return text
}

// checkGraphs checks --graph and --target-graph, and sets the id of the target.
func (f *copyFlags) checkGraphs(source, target string) error {
	const rule = "an id is a lower-case letter and then at most 62 of a-z, 0-9, _ and -"
	shared := address.Is(source) || address.Is(target)
	switch {
	case !shared && f.graph+f.targetGraph != "":
		return usage.Errorf("--graph and --target-graph are only for shared storage; a folder is the graph itself")
	case shared && f.graph == "" && (address.Is(source) || f.targetGraph == ""):
		return usage.Errorf("--graph is missing; give the id of the graph in the shared storage")
	case f.targetGraph != "" && !address.Is(target):
		return usage.Errorf("--target-graph is only for a target in shared storage; the folder that TARGET names is the graph itself")
	case f.graph != "" && !cluster.IsGraphID(f.graph):
		return usage.Errorf("--graph is %q, which is not an id; %s", f.graph, rule)
	case f.targetGraph != "" && !cluster.IsGraphID(f.targetGraph):
		return usage.Errorf("--target-graph is %q, which is not an id; %s", f.targetGraph, rule)
	}
	if f.targetGraph == "" && address.Is(target) {
		f.targetGraph = f.graph
	}
	return nil
}

// view opens the source for reading only. The caller must close the View and then call the function that
// view returns.
func (f *copyFlags) view(ctx context.Context, source string) (*embedded.View, func() error, error) {
	if !address.Is(source) {
		v, err := embedded.ViewDir(ctx, fs.OS(), source, embedded.Options{})
		return v, func() error { return nil }, err
	}
	s, leave, err := replica.OpenForCommand(ctx, source)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.View(ctx, f.graph, engine.OpenOptions{})
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return v, leave, nil
}

// copyToShared makes the target in shared storage, and completes the answer.
func (f *copyFlags) copyToShared(ctx context.Context, v *embedded.View, target, commit string, a *copyAnswer) (err error) {
	s, leave, err := replica.OpenForCommand(ctx, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	g, err := s.Copy(ctx, f.targetGraph, v, commit, engine.OpenOptions{})
	if err != nil {
		return err
	}
	return errors.Join(a.describe(ctx, g), g.Close())
}

// copyToFolder makes the target in a folder, and completes the answer. It works in a temporary folder next
// to the target and renames that folder at the end, so that the target is complete as soon as it exists.
func copyToFolder(ctx context.Context, v *embedded.View, target, commit string, a *copyAnswer) error {
	target = filepath.Clean(target)
	parent, name := filepath.Dir(target), filepath.Base(target)
	if names, err := os.ReadDir(target); err == nil && len(names) > 0 {
		return &engine.Conflict{Reason: fmt.Sprintf("the folder %s is not empty; choose a new folder", target)}
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, "."+name+"-copy-")
	if err != nil {
		return err
	}
	if err := fillFolder(ctx, v, temp, commit, a); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	if err := os.Rename(temp, target); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return fs.OS().SyncDir(parent)
}

// fillFolder makes a graph in an empty folder, checks and closes it.
func fillFolder(ctx context.Context, v *embedded.View, dir, commit string, a *copyAnswer) error {
	g, err := v.CopyToDir(ctx, fs.OS(), dir, embedded.Options{}, commit)
	if err != nil {
		return err
	}
	err = v.Check(ctx, g, commit)
	if err == nil {
		err = a.describe(ctx, g)
	}
	return errors.Join(err, g.Close())
}

// describe sets the members of the answer that come from the new graph.
func (a *copyAnswer) describe(ctx context.Context, g engine.Graph) error {
	branches, err := g.Branches(ctx)
	if err != nil {
		return err
	}
	for _, b := range branches {
		if tool.BranchNamed(b.Name).IsMain() {
			a.Head, a.HeadTime = b.Head.ID, b.Head.Time.UnixMicro()
		}
	}
	a.Branches = len(branches)
	return nil
}
