package store

import (
	"context"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestForeignTemporaries opens a store in a directory that holds other programs' files. Those must
// stay, and the store's own temporary files must be removed.
func TestForeignTemporaries(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	s, err := Create(ctx, fsys, "d", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := []string{"notes.tmp", "7.seg", ".tmp", "000000000001.txt", "backup.manifest", "x.log.tmp", "000000000009.free.tmp"}
	for _, name := range append(slices.Clone(foreign), "000000000009.seg.tmp", "000000000003.manifest.tmp", "000000000002.log.tmp") {
		f, err := fsys.Create("d/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err = Open(ctx, fsys, "d", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	names, err := fsys.List("d")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range foreign {
		if !slices.Contains(names, name) {
			t.Errorf("%s is gone", name)
		}
	}
	for _, name := range names {
		if len(name) > 12 && name[:11] == "00000000000" && name[len(name)-4:] == ".tmp" && !slices.Contains(foreign, name) {
			t.Errorf("%s is still there", name)
		}
	}
}
