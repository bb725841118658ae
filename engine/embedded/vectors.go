package embedded

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// vectorBuilds builds the approximate indexes of @ann properties in the background. Until an index
// is built, `nearest` compares all vectors.
type vectorBuilds struct {
	opts        *Options     // options of the graph
	branches    *branches    // the heads to build for
	checkpoints *checkpoints // store the indexes

	logged    atomic.Int64  // log bytes since the last request
	requested chan struct{} // contains a token when the graph may need a build
}

// vectorBytes is the number of log bytes after which the graph is checked for indexes that need a
// build.
const vectorBytes = 64 << 10

// loop builds the indexes that are needed, at each request, until ctx ends.
func (v *vectorBuilds) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.requested:
			if err := v.make(ctx); err != nil && ctx.Err() == nil {
				v.checkpoints.failed(err)
			}
		}
	}
}

// request requests a check for indexes that need a build. It does not wait for the check.
func (v *vectorBuilds) request() {
	if v.opts.quiet {
		return
	}
	v.logged.Store(0)
	select {
	case v.requested <- struct{}{}:
	default:
	}
}

// countCommit adds the weight of a durable commit, in bytes. It requests a check for needed builds
// if many bytes were committed since the last request, or if `bulk` is true.
func (v *vectorBuilds) countCommit(weight int64, bulk bool) {
	if v.logged.Add(weight) > vectorBytes || bulk {
		v.request()
	}
}

// make builds the indexes that the tips of the branches need, those of main first. Then it requests
// a checkpoint, which stores the indexes.
func (v *vectorBuilds) make(ctx context.Context) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	built := false
	for _, b := range v.branches.all() {
		if !b.head.Load().snap.Schema.Approximate() {
			continue
		}
		builds, err := b.planVectors(ctx, v.branches.main.head.Load().snap, v.opts.vectorLimits)
		if err != nil {
			return err
		}
		for _, build := range builds {
			// Leave one processor free for calls.
			if err := build.Run(ctx, max(1, parallel.Processors()-1)); err != nil {
				return err
			}
			built = true
		}
	}
	if built {
		v.checkpoints.request()
	}
	return nil
}

// planVectors returns the builds that the branch needs. The parameter `main` is a state of the main
// branch. For a table that has the same rows in that state, the branch uses the graph of that
// state. planVectors reads rows and files without a lock. Then it holds the write lock for a
// moment, so that every state after the tip inherits the builds.
func (b *branch) planVectors(ctx context.Context, main *version.Snapshot, limits version.VectorLimits) (builds []*version.VectorBuild, err error) {
	head := b.head.Load().snap
	needs := map[*schema.Type][]version.VectorNeed{}
	for _, t := range head.Tables() {
		var donor *version.Table
		if main.Schema == head.Schema {
			donor = main.Table(t.Type.Entity, t.Type.Index)
		}
		found, err := t.VectorNeeds(ctx, donor, limits)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			needs[t.Type] = found
		}
	}
	if len(needs) == 0 {
		return nil, nil
	}
	if err := b.writing.Lock(ctx); err != nil {
		return nil, err
	}
	defer b.unlock()
	for _, t := range b.tip.snap.Tables() {
		for _, need := range needs[t.Type] {
			if build := need.Begin(t); build != nil {
				builds = append(builds, build)
			}
		}
	}
	return builds, nil
}

// all returns the branches: main first, then the others in the order of their names.
func (l *branches) all() []*branch {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*branch, 0, len(l.byName))
	for _, b := range l.byName {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *branch) int {
		if (a.name == engine.MainBranch) != (b.name == engine.MainBranch) {
			if a.name == engine.MainBranch {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.name, b.name)
	})
	return all
}
