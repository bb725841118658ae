package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// View is a graph at one moment, for reading only. It needs no lock and does not become the writer
// of the graph, so another process may have the graph open and write to it meanwhile. A View can be
// copied to another storage.
type View struct {
	graph *Graph
	image store.Image
}

// ViewDir opens the graph in a directory for reading only. It contains every commit that was
// acknowledged before the call. The errors are those of [Open], except that the directory may be
// open in another process.
func ViewDir(ctx context.Context, fsys fs.FS, dir string, opts Options) (*View, error) {
	st, found, err := store.OpenView(ctx, fsys, dir)
	if err != nil {
		return nil, err
	}
	g := newGraph(opts.complete())
	g.attachStore(st)
	if err := g.recovery(ctx, found); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return newView(g, st, found), nil
}

// ViewShared opens a graph in shared storage for reading only. It contains every commit that was
// acknowledged before the call. The error is a *engine.NotFound if no graph has the prefix.
func ViewShared(ctx context.Context, at SharedPlace, opts Options) (*View, error) {
	opts = opts.shared()
	a := &imageApplier{applier: applier{opts: opts}}
	st, err := store.OpenShared(ctx, at.options(opts, a))
	if err != nil {
		return nil, err
	}
	if !st.Exists() {
		return nil, errors.Join(&engine.NotFound{What: "graph in shared storage", Name: at.Prefix}, st.Close())
	}
	return newView(a.current.Load(), st, a.found), nil
}

// imageApplier is an applier that also keeps the stored state from which the graph was built.
type imageApplier struct {
	applier
	found *store.Recovered // the last checkpoint and the records after it
}

// Load implements [store.Applier].
func (a *imageApplier) Load(ctx context.Context, st *store.Shared, found *store.Recovered) error {
	kept := *found
	kept.Records = slices.Clone(found.Records)
	a.found = &kept
	return a.applier.Load(ctx, st, found)
}

// Apply implements [store.Applier].
func (a *imageApplier) Apply(ctx context.Context, r store.Record) error {
	a.found.Records = append(a.found.Records, r)
	return a.applier.Apply(ctx, r)
}

// newView returns the View of a graph that was built from a stored state. To build the graph, all
// segments that the records name were opened.
func newView(g *Graph, st store.Storage, found *store.Recovered) *View {
	image := store.Image{Manifest: found.Manifest, Listed: found.Segments, Records: found.Records, From: st}
	for _, id := range slices.Sorted(maps.Keys(st.Sizes())) {
		if !slices.Contains(found.Segments, id) {
			image.Others = append(image.Others, id)
		}
	}
	return &View{graph: g, image: image}
}

// Graph returns the graph. Its methods that write fail.
func (v *View) Graph() engine.Graph { return v.graph }

// Needs returns a number for the oldest checkpoint that the View needs; see Needs of [Graph].
func (v *View) Needs() uint64 {
	if s, ok := v.image.From.(*store.Shared); ok {
		return s.Needs()
	}
	return 0
}

// Bytes returns the size of the segments of the graph.
func (v *View) Bytes() (n int64) {
	for _, size := range v.image.From.Sizes() {
		n += size
	}
	return n
}

// Close releases the storage.
func (v *View) Close() error {
	v.graph.calls.Close()
	v.graph.restorer.running.Wait()
	return v.graph.store.Close()
}

// CopyToDir makes a graph in a directory with everything that the View contains: branches, commits,
// idempotency keys, proposals, drafts and watches. If `commit` is not empty, the new graph has only a branch main
// instead, which ends with that commit; see [View.At]. The error is a *engine.Conflict if the directory
// contains a graph. After another error, the caller can remove the directory.
func (v *View) CopyToDir(ctx context.Context, fsys fs.FS, dir string, opts Options, commit string) (_ *Graph, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	opts = opts.complete()
	st, found, err := store.CreateFrom(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Failed: opts.LogFailed}, &v.image)
	if err != nil {
		return nil, err
	}
	return v.begin(ctx, opts, st, found, commit)
}

// CopyToShared is like [View.CopyToDir], but makes the graph in shared storage. This server is then the
// writer of the new graph.
func (v *View) CopyToShared(ctx context.Context, at SharedPlace, opts Options, commit string) (_ *Graph, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	opts = opts.shared()
	st, found, err := store.CreateSharedFrom(ctx, at.options(opts, newGraphs{}), &v.image)
	if err != nil {
		return nil, err
	}
	return v.begin(ctx, opts, st, found, commit)
}

// begin opens the copy in its storage.
func (v *View) begin(ctx context.Context, opts Options, st store.Storage, found *store.Recovered, commit string) (*Graph, error) {
	g := newGraph(opts)
	g.attachStore(st)
	err := g.recovery(ctx, found)
	if err == nil && commit != "" {
		err = g.rewind(ctx, commit)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	g.start()
	return g, nil
}

// Check verifies a copy that CopyToDir or CopyToShared made of this View. It reads all stored data of
// the copy, and compares branches, commits, proposals and exported entities with those of the View. The
// argument `commit` is the same as in the call that made the copy. The error is a *engine.Corrupt.
func (v *View) Check(ctx context.Context, made *Graph, commit string) error {
	for id := range made.store.Sizes() {
		seg, err := made.store.OpenSegment(ctx, id)
		if err == nil {
			err = seg.Complete(ctx) // in shared storage, this fetches and verifies the object
		}
		if err != nil {
			return err
		}
	}
	if err := made.Verify(ctx); err != nil {
		return err
	}
	branches, err := v.graph.Branches(ctx)
	if err != nil {
		return err
	}
	if commit != "" {
		c, err := v.graph.Commit(ctx, commit)
		if err != nil {
			return err
		}
		branches = []engine.Branch{{Name: engine.MainBranch, Head: c}}
	}
	copied, err := made.Branches(ctx)
	if err != nil {
		return err
	}
	if len(copied) != len(branches) {
		return differs("number of branches", len(copied), len(branches))
	}
	seen := map[string]bool{}
	for i, b := range branches {
		if copied[i].Name != b.Name || copied[i].Head.ID != b.Head.ID {
			return differs("branch", copied[i].Name+" at "+copied[i].Head.ID, b.Name+" at "+b.Head.ID)
		}
		if seen[b.Head.ID] {
			continue
		}
		seen[b.Head.ID] = true
		if err := v.checkState(ctx, made, b, commit); err != nil {
			return err
		}
	}
	if commit != "" {
		return nil
	}
	if err := v.checkWatches(ctx, made); err != nil {
		return err
	}
	if err := v.checkDrafts(ctx, made); err != nil {
		return err
	}
	return v.checkProposals(ctx, made)
}

// checkState compares the commits and the entities of a branch of a copy. If `commit` is not empty, it
// compares them with the state at that commit.
func (v *View) checkState(ctx context.Context, made *Graph, b engine.Branch, commit string) error {
	own := engine.Target{Branch: b.Name}
	if commit != "" {
		own = engine.Target{Commit: commit}
	}
	var line []string
	v.graph.history.Line(b.Head.ID, func(c engine.Commit) bool {
		line = append(line, c.ID)
		return true
	})
	copied, err := made.Commits(ctx, b.Name, engine.CommitRange{})
	if err != nil {
		return err
	}
	if len(copied) != len(line) {
		return differs("number of commits of branch "+b.Name, len(copied), len(line))
	}
	for i, c := range copied {
		if c.ID != line[i] {
			return differs("commit of branch "+b.Name, c.ID, line[i])
		}
	}
	want, err := contentSum(ctx, v.graph, own)
	if err != nil {
		return err
	}
	got, err := contentSum(ctx, made, engine.Target{Branch: b.Name})
	if err != nil {
		return err
	}
	if got != want {
		return differs("checksum of the entities of branch "+b.Name, fmt.Sprintf("%x", got), fmt.Sprintf("%x", want))
	}
	return nil
}

// checkProposals compares the proposals of a copy.
func (v *View) checkProposals(ctx context.Context, made *Graph) error {
	want, err := v.graph.Proposals(ctx, engine.ProposalRange{})
	if err != nil {
		return err
	}
	got, err := made.Proposals(ctx, engine.ProposalRange{})
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return differs("number of proposals", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(logrecord.AppendProposal(nil, &got[i]), logrecord.AppendProposal(nil, &want[i])) {
			return differs("proposal", got[i].ID, want[i].ID)
		}
	}
	return nil
}

// checkDrafts compares the drafts of a copy.
func (v *View) checkDrafts(ctx context.Context, made *Graph) error {
	want, err := v.graph.Drafts(ctx, engine.DraftRange{})
	if err != nil {
		return err
	}
	got, err := made.Drafts(ctx, engine.DraftRange{})
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return differs("number of drafts", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(logrecord.AppendDraft(nil, &got[i]), logrecord.AppendDraft(nil, &want[i])) {
			return differs("draft", got[i].ID, want[i].ID)
		}
	}
	return nil
}

// checkWatches compares the watches of a copy.
func (v *View) checkWatches(ctx context.Context, made *Graph) error {
	want, err := v.graph.Watches(ctx, engine.WatchRange{})
	if err != nil {
		return err
	}
	got, err := made.Watches(ctx, engine.WatchRange{})
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return differs("number of watches", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(logrecord.AppendWatch(nil, &got[i]), logrecord.AppendWatch(nil, &want[i])) {
			return differs("watch", got[i].ID, want[i].ID)
		}
	}
	return nil
}

// contentSum returns a checksum of the schema and of all entities at a target.
func contentSum(ctx context.Context, g *Graph, at engine.Target) (sum [sha256.Size]byte, err error) {
	s, err := g.Schema(ctx, at)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	h.Write([]byte(s.Digest))
	if _, err := g.Export(ctx, h, at, engine.ExportOptions{}); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// differs returns the error for a copy that differs from its source.
func differs(what string, got, want any) error {
	return &engine.Corrupt{Object: "copy", Detail: fmt.Sprintf("its %s is %v, but the source has %v; remove the copy and try again", what, got, want)}
}

// At returns the commit that was the head of a branch at a time: the last commit of the branch that
// was made no later than that. An empty name means main. The error is a *engine.NotFound if the branch
// has no such commit.
func (v *View) At(ctx context.Context, branch string, at time.Time) (engine.Commit, error) {
	all, err := v.graph.Commits(ctx, branch, engine.CommitRange{})
	if err != nil {
		return engine.Commit{}, err
	}
	i := slices.IndexFunc(all, func(c engine.Commit) bool { return !c.Time.After(at) })
	if i < 0 {
		return engine.Commit{}, &engine.NotFound{What: "commit at or before", Name: at.Format(time.RFC3339Nano)}
	}
	return all[i], nil
}

// Readable returns an error if the state of a commit cannot be restored: a *engine.NotFound if no
// branch has the commit among its ancestors, or if a cleanup has removed the state.
func (v *View) Readable(ctx context.Context, commit string) error {
	_, err := v.graph.snapshot(ctx, engine.Target{Commit: commit})
	return err
}

// rewind makes `commit` the head of main, and removes all other branches with their watches, all proposals and all drafts. Of the
// commits with idempotency keys on main, only the ancestors of `commit` keep their keys. A checkpoint stores
// the result, so rewind writes no log record. REQUIRES: no other goroutine has access to the graph, and
// start was not called.
func (g *Graph) rewind(ctx context.Context, commit string) error {
	state, err := g.restorer.state(ctx, commit)
	if err != nil {
		return err
	}
	since, err := g.retention.runOf(nil, state)
	if err != nil {
		return err
	}
	l := &g.branches
	main := recoveredBranch(engine.MainBranch, state.Fork(), l.lsn)
	main.line.run = since
	for _, r := range l.main.keys.Stored(&g.history, g.opts.time()) {
		if kept := r.Unpack(&g.history); g.history.InLine(kept.Commit.ID, commit) {
			main.keys.Add(&g.history, kept.Commit, &kept.Receipt)
		}
	}
	l.mu.Lock()
	for _, b := range slices.Clone(l.sorted) {
		b.deleted = true
		l.removeLocked(b)
	}
	l.addLocked(main)
	l.main, l.proposals, l.drafts = main, proposals{reclaimed: l.proposals.latestEvent()}, drafts{}
	l.watches = l.watches.onMain()
	l.mu.Unlock()
	g.retention.branchDeleted()
	c := &g.checkpoints
	c.mu.Lock()
	defer c.mu.Unlock()
	g.layout.Lock()
	defer g.layout.Unlock()
	cut := l.cut(g.opts.time())
	cut.rewrite = true // a server that follows the log loads this checkpoint
	if err := c.flushCutLocked(ctx, cut); err != nil {
		return errors.Join(errors.New("storing the past state"), err)
	}
	return nil
}
