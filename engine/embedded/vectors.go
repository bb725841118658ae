package embedded

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// vectorBuilds builds the approximate indexes of @ann properties in the background. Until an index
// is built, nearest compares all vectors.
type vectorBuilds struct {
	opts        *Options
	branches    *branches
	checkpoints *checkpoints

	logged    atomic.Int64  // log bytes since the last request
	requested chan struct{} // holds a token when the graph may need a build
}

// vectorBytes is how many bytes of log justify a look for indexes that need a build.
const vectorBytes = 64 << 10

// loop looks for indexes to build on each request, until ctx ends.
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

// request requests a look for indexes that need a build. It does not wait.
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

// countCommit counts the weight of a durable commit, in bytes. It requests a look if many bytes were
// committed, or if bulk is set.
func (v *vectorBuilds) countCommit(weight int64, bulk bool) {
	if v.logged.Add(weight) > vectorBytes || bulk {
		v.request()
	}
}

// make builds the indexes that the tips of the branches need, those of main first. Afterwards it
// requests a checkpoint, which stores them.
func (v *vectorBuilds) make(ctx context.Context) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	built := false
	for _, b := range v.branches.all() {
		if !b.head.Load().snap.Schema.Approximate() {
			continue
		}
		builds, err := b.planVectors(ctx, v.branches.main.head.Load().snap)
		if err != nil {
			return err
		}
		for _, build := range builds {
			// Leave a processor for calls.
			if err := build.Run(ctx, max(1, runtime.GOMAXPROCS(0)-1)); err != nil {
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

// planVectors returns the builds that the branch needs. It holds the write lock, so that every state
// after the tip takes the builds over. The branch takes over the graphs of main, a state of the main
// branch, where it shares their rows.
func (b *branch) planVectors(ctx context.Context, main *version.Snapshot) (builds []*version.VectorBuild, err error) {
	if err := b.writing.lock(ctx); err != nil {
		return nil, err
	}
	defer b.unlock()
	defer corruption.Catch(corruption.Watch(), &err)
	for _, t := range b.tip.snap.Tables() {
		var donor *version.Table
		if main.Schema == b.tip.snap.Schema {
			donor = main.Table(t.Type.Entity, t.Type.Index)
		}
		builds = append(builds, t.PlanVectors(donor)...)
	}
	return builds, nil
}

// all lists the branches, main first and the others by name.
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
