package store

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// heldCheckpoints holds uploads of checkpoints back while `begun` is set.
type heldCheckpoints struct {
	object.Memory
	begun   chan struct{} // receives an element when an upload begins; nil to hold none back
	release chan error    // says how the upload goes on: nil carries it out, and an error ends it
}

func (b *heldCheckpoints) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if b.begun != nil && strings.Contains(name, "checkpoint/") {
		b.begun <- struct{}{}
		if err := <-b.release; err != nil {
			return err
		}
	}
	return b.Memory.Upload(ctx, name, r, size)
}

// TestCommitsDuringCheckpoint commits while a checkpoint is uploaded. The checkpoint must contain exactly
// the records that were durable before, and must not condemn the segments of the later records.
func TestCommitsDuringCheckpoint(t *testing.T) {
	ctx := t.Context()
	b := &heldCheckpoints{release: make(chan error)}
	w := openServer(t, b, nil).impatient(func() uint64 { return 0 })
	must(t, w.TakeOver(ctx))
	must(t, w.Checkpoint(ctx, []byte("empty"), 0, nil))
	f := openServer(t, b, nil)
	f.opts.Reload = 4
	first := w.segment(t, []byte("first"))
	w.write(t, 1, "one", first)
	must(t, w.Checkpoint(ctx, []byte("one"), 1, []SegmentID{first}))
	second := w.segment(t, []byte("second"))
	w.write(t, 2, "two", second)
	f.take()
	must(t, f.CatchUp(ctx))
	wantEvents(t, "before the checkpoint", f.take(), "apply 1 1 one\napply 2 2 two")

	b.begun = make(chan struct{})
	checkpointed := make(chan error)
	go func() { checkpointed <- w.Checkpoint(ctx, []byte("two"), 2, []SegmentID{second}) }()
	<-b.begun
	needs := w.Needs()
	third := w.segment(t, []byte("third"))
	w.write(t, 3, "three", third) // would wait for the upload if the checkpoint held the turn
	w.write(t, 4, "four")
	must(t, f.CatchUp(ctx))
	wantEvents(t, "during the upload", f.take(), "apply 3 3 three\napply 4 4 four")
	w.collect(t, "during the upload", 0, 0)
	if got := w.Needs(); got != needs {
		t.Errorf("during the upload, the writer needs checkpoint %d; want %d, the one in force", got, needs)
	}
	b.release <- nil
	must(t, <-checkpointed)
	b.begun = nil

	loaded := fmt.Sprintf("load two up to 2, segments [%d]", second)
	must(t, f.CatchUp(ctx))
	wantEvents(t, "after the announcement", f.take(), loaded+"\napply 3 3 three\napply 4 4 four")
	if w.Durable() != 4 || f.Durable() != 4 {
		t.Errorf("record %d is durable on the writer, and %d on the reader; want 4", w.Durable(), f.Durable())
	}
	w.collect(t, "after the announcement", 1, 0)
	wantObjects(t, "after the announcement", w, second, third)
	for what, s := range map[string]server{"the reader": f, "another server": openServer(t, b, nil)} {
		s.wantBlock(t, third, []byte("third"))
		if err := s.Verify(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, f.TakeOver(ctx))
	f.write(t, 5, "five")
	wantEvents(t, "another server", openServer(t, b, nil).take(), loaded+"\napply 3 3 three\napply 4 4 four\napply 5 5 five")
}

// TestCheckpointLost lets an upload of a checkpoint fail, and another server take over during one.
func TestCheckpointLost(t *testing.T) {
	ctx := t.Context()
	b := &heldCheckpoints{release: make(chan error)}
	w := newShared(t, b)
	first := w.segment(t, []byte("first"))
	w.write(t, 1, "one", first)
	b.begun = make(chan struct{})
	checkpoint := func(during func(), how error) error {
		done := make(chan error)
		go func() { done <- w.Checkpoint(ctx, []byte("one"), 1, []SegmentID{first}) }()
		<-b.begun
		during()
		b.release <- how
		return <-done
	}
	if err := checkpoint(func() { w.write(t, 2, "two") }, object.ErrBusy); err == nil {
		t.Error("a checkpoint that cannot be uploaded succeeds")
	}
	if w.MustReopen() {
		t.Error("the writer accepts no writes after an upload failed")
	}
	w.write(t, 3, "three")
	other := openServer(t, b, nil)
	if err := checkpoint(func() { must(t, other.TakeOver(ctx)) }, nil); err == nil || !w.MustReopen() {
		t.Errorf("a checkpoint that another server's takeover overtakes: %v; the writer must open again: %t", err, w.MustReopen())
	}
	b.begun = nil
	other.write(t, 4, "four")
	late := openServer(t, b, nil)
	events := late.take() // the checkpoint that was uploaded too late comes first, but is not in force
	wantEvents(t, "another server", events[max(0, strings.LastIndex(events, "load")):],
		"load empty up to 0, segments []\napply 1 1 one\napply 2 2 two\napply 3 3 three\napply 4 4 four")
	late.wantBlock(t, first, []byte("first"))
}
