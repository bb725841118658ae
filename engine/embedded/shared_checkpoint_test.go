package embedded

import (
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestCommitsDuringUpload commits on several branches while the upload of a checkpoint is in flight. All
// servers must have all commits afterwards, and the next checkpoint too.
func TestCommitsDuringUpload(t *testing.T) {
	ctx := t.Context()
	memory := &object.Memory{}
	begun, release := make(chan struct{}), make(chan struct{})
	held := false
	g := createShared(t, placeIn(hookedBucket{memory, func(r request, send func() error) error {
		if r == (request{"upload", "checkpoint"}) && held {
			begun <- struct{}{}
			<-release
		}
		return send()
	}}), Options{quiet: true, indexed: 1})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	reading := placeIn(memory)
	reading.reload = 1
	follower := follow(t, reading, Options{})
	must(loading("", engine.Merge, manyPeople(0, 200)).do(g))
	must(forking("side", "").do(g))
	must(insert("side", "ann", 30).do(g))
	held = true
	done := make(chan error)
	go func() { done <- g.checkpoints.make(ctx) }()
	<-begun
	held = false
	for i := range 5 {
		must(insert("", fmt.Sprint("main", i), i).do(g))
		must(insert("side", fmt.Sprint("side", i), i).do(g))
	}
	must(loading("", engine.Merge, manyPeople(200, 300)).do(g))
	release <- struct{}{}
	must(<-done)
	same := func(when string) {
		t.Helper()
		must(follower.CatchUp(ctx))
		late := follow(t, placeIn(memory), Options{})
		want := dumpAll(g)
		for what, f := range map[string]*Follower{"the follower": follower, "a server that opens the graph": late} {
			if got := dumpAll(f.state.current.Load()); got != want {
				t.Errorf("%s: %s reads\n%s\nwant\n%s", when, what, got, want)
			}
		}
		must(late.Close())
	}
	same("after the checkpoint")
	must(merging("side", "main", engine.MergeOptions{}).do(g))
	must(g.checkpoints.make(ctx))
	same("after the next checkpoint")
	must(g.Verify(ctx))
}
