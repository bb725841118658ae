package version

import (
	"errors"
	"reflect"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
)

func FuzzReadState(f *testing.F) {
	s := testSchema(f)
	f.Add(AppendState(nil, NewSnapshot(s, first), func(*schema.Schema) []byte { return nil }))
	dec := decode(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := ReadState(b, dec, []*schema.Schema{s}, memory{})
		if err != nil && !storedtest.IsBadData(err) && !errors.As(err, new(*engine.NotFound)) {
			t.Errorf("%v is neither a *engine.Corrupt nor an error about the format", err)
		}
	})
}

// TestManifestPast checks that a manifest's archive and anchors are read back unchanged.
func TestManifestPast(t *testing.T) {
	s := testSchema(t)
	m := Manifest{Branches: []ManifestBranch{{Name: "main", Head: NewSnapshot(s, first)}},
		Archive: []logrecord.ArchiveSegment{{Name: "8", Bytes: 9, Runs: []logrecord.Run{{First: 1, N: 2}, {First: 7, N: 1}}, Refs: []string{"5", "6"}}, {Name: "10", Bytes: 1, Runs: []logrecord.Run{{First: 8, N: 1}}}},
		Anchors: []Anchor{{Commit: first.ID, Name: "9", Block: 1, Refs: []string{"6"}}}}
	got, err := ReadManifest(m.Append(nil, func(*schema.Schema) []byte { return nil }), decode(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Archive, m.Archive) || !reflect.DeepEqual(got.Anchors, m.Anchors) {
		t.Errorf("read back %+v and %+v", got.Archive, got.Anchors)
	}
}
