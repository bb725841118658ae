package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestFormat compares the bytes that the store writes with the fixtures of the current
// formats in testdata.
func TestFormat(t *testing.T) {
	mem := fs.NewMem()
	opts := tiny
	salt := uint64(0x0123456789abcdef)
	opts.salt = func() uint64 { salt++; return salt }
	s := create(t, mem, "/g", opts)
	first := segment(t, s, 10)
	for i := range 3 {
		_, err := s.Append(t.Context(), 1, fmt.Append(nil, "record ", i))
		must(t, err)
	}
	must(t, s.Checkpoint(t.Context(), []byte("a manifest"), 2, []SegmentID{first}))
	id, err := s.WriteSegment(t.Context(), func(w *SegmentWriter) error {
		for _, name := range []string{"a", "column b"} {
			if err := w.AddBlock(name, []byte("data of "+name)); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	_, err = s.Append(t.Context(), 2, pattern(4000), id)
	must(t, err)
	must(t, s.Close())

	names, err := mem.List("/g")
	must(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(mem, filepath.Join("/g", name))
		must(t, err)
		golden.Check(t, filepath.Join("testdata", fmt.Sprint("format", format.Current), name), data)
	}
}

// TestFormats opens a store of each format that is read.
func TestFormats(t *testing.T) {
	for number := format.First; number <= format.Current; number++ {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			dir := filepath.Join("testdata", fmt.Sprint("format", number))
			entries, err := os.ReadDir(dir)
			must(t, err)
			mem := fs.NewMem()
			must(t, mem.MkdirAll("/g"))
			for _, e := range entries {
				data, err := os.ReadFile(filepath.Join(dir, e.Name()))
				must(t, err)
				replace(t, mem, filepath.Join("/g", e.Name()), data)
			}
			must(t, Verify(t.Context(), mem, "/g"))
			s, rec := reopen(t, mem, "/g", tiny)
			defer s.Close()
			if string(rec.Manifest) != "a manifest" || rec.ManifestLSN != 2 || len(rec.Segments) != 1 || len(rec.Records) != 2 {
				t.Fatalf("recovered %+v", rec)
			}
			if r := rec.Records[0]; r.LSN != 3 || r.Kind != 1 || string(r.Payload) != "record 2" {
				t.Errorf("record %+v", r)
			}
			seg, err := s.OpenSegment(t.Context(), 2)
			must(t, err)
			data, err := seg.Block("column b")
			if err != nil || string(data) != "data of column b" {
				t.Errorf("block %q, %v", data, err)
			}
		})
	}
}
