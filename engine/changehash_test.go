package engine_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// hashed returns a hash of changes with values of many kinds.
func hashed() *engine.ChangeHash {
	var h engine.ChangeHash
	h.Change(&engine.EntityChange{Kind: engine.Updated, Entity: "node", Type: "Person", ID: "ann", Properties: []engine.PropertyChange{
		{Name: "name", Old: value.OfString("Ann"), New: value.OfString(strings.Repeat("long ", 5000))},
		{Name: "age", Old: value.Null, New: value.OfI32(-41)},
		{Name: "score", Old: value.OfF64(0.5), New: value.OfF32(1e30)},
		{Name: "ok", Old: value.OfBool(true), New: value.OfU64(1 << 63)},
		{Name: "born", Old: value.OfDate(7), New: value.OfDateTime(12345678_000)},
		{Name: "tags", Old: value.OfList(value.String, []value.Value{value.OfString("a"), value.OfString("")}), New: value.OfList(value.I64, nil)},
		{Name: "photo", Old: value.OfBlob([]byte{0, 1, 255}), New: value.OfVector([]float32{1, -2.5})},
		{Name: "many", New: value.OfList(value.I64, numbers(3000))},
	}})
	h.Change(&engine.EntityChange{Kind: engine.Inserted, Entity: "edge", Type: "Knows", ID: "k", From: "ann", To: "bob", FromType: "Person", ToType: "Person"})
	h.Change(&engine.EntityChange{Kind: engine.Deleted, Entity: "node", Type: "Note", ID: "n"})
	return &h
}

// numbers returns n numbers.
func numbers(n int) (all []value.Value) {
	for i := range n {
		all = append(all, value.OfI64(int64(i)))
	}
	return all
}

// resolved adds a resolution to a hash.
func resolved(h *engine.ChangeHash) *engine.ChangeHash {
	h.Resolve(&engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: "ann", Property: "age"}, Take: engine.TakeValue, Value: value.OfI32(40)})
	return h
}

// TestChangeHash compares digests with those that stored approvals have: a digest must never get another value.
func TestChangeHash(t *testing.T) {
	const (
		none       = "sha256:7dc23c57352fb5f769e738bce0dcae20d1d1f601a41f1965b33c6180f3fca249"
		unresolved = "sha256:43b4b93cbda94da814c679ed8ac000648d7311234357f55fced063ae10ea7976"
		resolution = "sha256:da74dc33883affd45ed95ee61f54785a8f10e8122895209cb7a7e0b00f3383bb"
	)
	if got := new(engine.ChangeHash).Sum(); got != none {
		t.Errorf("without changes: %s", got)
	}
	if got := hashed().Sum(); got != unresolved {
		t.Errorf("without resolutions: %s", got)
	}
	if got := resolved(hashed()).Sum(); got != resolution {
		t.Errorf("with a resolution: %s", got)
	}
	h := hashed().Clone()
	var clones sync.WaitGroup
	for range 4 {
		clones.Go(func() {
			if got := resolved(h.Clone()).Sum(); got != resolution {
				t.Errorf("a clone with a resolution: %s", got)
			}
		})
	}
	clones.Wait()
	if got := h.Sum(); got != unresolved {
		t.Errorf("a hash after its clones were used: %s", got)
	}
	if got := new(engine.ChangeHash).Clone().Sum(); got != none {
		t.Errorf("a clone without changes: %s", got)
	}
}
