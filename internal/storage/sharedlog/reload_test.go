package sharedlog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// TestReload checks that a Follower loads a checkpoint of the same layout exactly if Reload returns
// true, and that LoadedInForce tells whether it did. Records come between the checkpoints and their
// announcements. The Follower has the last log objects in memory, and reads the others again.
func TestReload(t *testing.T) {
	for _, between := range []int{0, 1, 7} {
		b := &object.Memory{}
		n := open(t, b)
		w := n.takeOver(t)
		reload := false
		state := &texts{}
		o := options(b, state)
		o.RollUp = 2 // the Follower keeps twice as many log objects
		o.Reload = func() bool { return reload }
		f, err := sharedlog.Open(t.Context(), o)
		must(t, err)
		for i, want := range []bool{false, true, false, true} {
			reload = want
			before := state.loads
			appendAll(t, w, fmt.Sprintf("record %d", i))
			c := stored(t, w, n.state.encode())
			for j := range between {
				appendAll(t, w, fmt.Sprintf("record %d.%d", i, j))
			}
			must(t, w.Announce(t.Context(), c, nil))
			must(t, f.CatchUp(t.Context()))
			if got := state.loads > before; got != want || f.LoadedInForce() != want {
				t.Errorf("checkpoint %d, %d records later: loaded %t, the one in force is loaded %t; want %t", i, between, got, f.LoadedInForce(), want)
			}
			if !slices.Equal(state.records, n.state.records) {
				t.Errorf("checkpoint %d, %d records later: the reader has %q, and the writer %q", i, between, state.records, n.state.records)
			}
		}
		appendAll(t, w, "last")
		must(t, f.CatchUp(t.Context()))
		node{f, state}.want(t, n.state.records...)
		open(t, b).want(t, n.state.records...)
	}
}

// TestReloadCollected collects the log objects between a checkpoint and its announcement when a Follower has
// read that checkpoint. The Follower must not load it.
func TestReloadCollected(t *testing.T) {
	b := &object.Memory{}
	n := open(t, b)
	w := n.takeOver(t)
	state := &texts{}
	var after func()
	o := options(watchedReads{b, func(name string) {
		if after != nil && strings.Contains(name, "checkpoint/") {
			after()
		}
	}}, state)
	o.RollUp = 1
	o.Reload = func() bool { return true }
	f, err := sharedlog.Open(t.Context(), o)
	must(t, err)
	appendAll(t, w, "a")
	c := stored(t, w, n.state.encode())
	appendAll(t, w, "b", "c", "d", "e")
	must(t, w.Announce(t.Context(), c, nil))
	after = func() {
		after = nil
		checkpoint(t, w, n)
		_, err := collect(t.Context(), n.Follower, nil)
		must(t, err)
	}
	wantIs(t, f.CatchUp(t.Context()), sharedlog.ErrBehind)
	if after != nil || state.loads != 0 {
		t.Errorf("the reader loaded %d checkpoints; want none, after it has read the first one", state.loads)
	}
	open(t, b).want(t, "a", "b", "c", "d", "e")
}

// watchedReads calls a function after each read of an object.
type watchedReads struct {
	object.Bucket
	after func(name string)
}

func (b watchedReads) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	data, err := b.Bucket.Read(ctx, name, offset, length)
	b.after(name)
	return data, err
}
