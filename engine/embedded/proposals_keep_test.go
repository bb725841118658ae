package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestProposalKeep cleans up a graph with an open and a closed proposal while time passes. The commits of
// the open one stay readable for good, those of the closed one for the set time.
func TestProposalKeep(t *testing.T) {
	for name, c := range map[string]struct {
		opts Options
		call time.Duration // CleanupOptions.ProposalKeep
		want time.Duration
	}{
		"by default":     {Options{}, 0, 90 * 24 * time.Hour},
		"set":            {Options{ProposalKeep: time.Hour}, 0, time.Hour},
		"set for a call": {Options{ProposalKeep: 1000 * time.Hour}, time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) { testProposalKeep(t, c.opts, c.call, c.want) })
	}
}

func testProposalKeep(t *testing.T, opts Options, call, keep time.Duration) {
	ctx := context.Background()
	now := clocktest.Start
	opts.Now = func() time.Time { return now }
	memory := fs.NewMem()
	g := create(t, memory, opts)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(loadText(g, engine.Merge, manyPeople(0, 3)))
	propose := func(branch string, first int) *engine.Proposal {
		t.Helper()
		_, err := g.CreateBranch(ctx, branch, engine.Target{})
		must(err)
		_, err = g.Load(ctx, strings.NewReader(manyPeople(first, 3)), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: branch}})
		must(err)
		p, err := g.PutProposal(ctx, engine.Proposal{Source: branch, Target: "main", Title: branch, Events: []engine.ProposalEvent{{Kind: engine.EventOpened}}})
		must(err)
		return p
	}
	open, closed := propose("open", 10), propose("closed", 20)
	closed.State = engine.ProposalClosed
	closed.Events = append(closed.Events, engine.ProposalEvent{Kind: engine.EventClosed})
	closed, err := g.PutProposal(ctx, *closed)
	must(err)
	ended := now
	must(g.DeleteBranch(ctx, "closed"))
	// More commits, so that the base and the heads of the proposals are no heads of branches.
	must(loadText(g, engine.Merge, manyPeople(30, 3)))
	_, err = g.Load(ctx, strings.NewReader(manyPeople(40, 3)), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: "open"}})
	must(err)

	readable := func(commit string) bool {
		t.Helper()
		_, err := g.Snapshot(ctx, engine.Target{Commit: commit})
		if err != nil && !errors.As(err, new(*engine.NotFound)) {
			t.Fatal(err)
		}
		return err == nil
	}
	clean := func(dry bool) {
		t.Helper()
		_, err := g.Cleanup(ctx, engine.CleanupOptions{ProposalKeep: call, DryRun: dry})
		must(err)
	}
	check := func(kept bool) {
		t.Helper()
		if !readable(open.Head) || !readable(open.Base) || !readable(open.TargetHead) {
			t.Error("a commit of the open proposal is not readable")
		}
		if _, err := g.Proposal(ctx, open.ID); err != nil {
			t.Errorf("the open proposal: %v", err)
		}
		if _, err := g.Proposal(ctx, closed.ID); (err == nil) != kept {
			t.Errorf("the closed proposal: %v, want it kept: %v", err, kept)
		}
		if got := readable(closed.Head); got != kept {
			t.Errorf("the head of the closed proposal is readable: %v, want %v", got, kept)
		}
	}
	clean(false)
	check(true)
	now = ended.Add(keep)
	clean(false)
	check(true)
	now = ended.Add(keep + time.Microsecond)
	clean(true)
	check(true) // a dry run changes nothing
	clean(false)
	check(false)
	now = ended.Add(100 * keep)
	clean(false)
	check(false)
	must(g.Close())
	g, err = Open(ctx, memory, dir, opts)
	must(err)
	t.Cleanup(func() { g.Close() })
	check(false)
}
