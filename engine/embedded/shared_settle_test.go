package embedded

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestSettle cuts a writer off the storage while it makes a branch. Afterwards, the branch does not exist, but
// the writer refuses to make it a second time, because its record has a place in the log. Settle must not
// confirm such a refusal, although CatchUp confirms that the server still is the writer.
func TestSettle(t *testing.T) {
	var cut atomic.Bool
	g := createShared(t, placeIn(hookedBucket{&object.Memory{}, func(_ request, send func() error) error {
		if cut.Load() {
			return object.ErrBusy
		}
		return send()
	}}), Options{})
	create := func(name string) error {
		_, err := g.CreateBranch(t.Context(), name, engine.Target{})
		return err
	}
	var exists *engine.Conflict
	if err := create("made"); err != nil {
		t.Fatal(err)
	}
	if err := create("made"); !errors.As(err, &exists) {
		t.Fatalf("making a branch twice: %v", err)
	}
	if err := g.Settle(t.Context()); err != nil {
		t.Errorf("Settle does not confirm the refusal: %v", err)
	}
	cut.Store(true)
	var late *engine.Unavailable
	if err := create("lost"); !errors.As(err, &late) {
		t.Fatalf("making a branch without the storage: %v", err)
	}
	cut.Store(false)
	if err := create("lost"); !errors.As(err, &exists) {
		t.Fatalf("making the lost branch again: %v; the test needs a refusal", err)
	}
	if err := g.CatchUp(t.Context()); err != nil {
		t.Fatalf("CatchUp: %v; the test needs a server that has not been replaced", err)
	}
	if err := g.Settle(t.Context()); !errors.As(err, &late) {
		t.Errorf("Settle confirms a refusal because of a branch that was not made: %v", err)
	}
}
