package store

import (
	"context"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestVerifyBesideRemoval removes a segment to which nothing refers, as a failed load does, after a
// Verify has begun. Verify must not report this as a fault.
func TestVerifyBesideRemoval(t *testing.T) {
	ctx := context.Background()
	var s *Store
	var ids []SegmentID
	armed := false
	fsys := faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		if armed && op.Kind == faultfs.OpOpen && strings.HasSuffix(op.Name, segmentExt) {
			armed = false
			for _, id := range ids {
				if err := s.RemoveSegment(id); err != nil {
					t.Error(err)
				}
			}
		}
		return nil
	})
	s, err := Create(ctx, fsys, "graph", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		id, err := s.WriteSegment(ctx, func(w *SegmentWriter) error { return w.AddBlock("rows", []byte("ab")) })
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	armed = true
	if err := s.Verify(ctx); err != nil {
		t.Error(err)
	}
	if armed {
		t.Error("no segment was opened")
	}
}
