package store

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestScratch reads a temporary segment after the name of its file is removed, and again after the
// store is closed.
func TestScratch(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		s := create(t, fsys, dir, tiny)
		before, err := fsys.List(dir)
		must(t, err)
		data := bytes.Repeat([]byte("scratch "), 30_000)
		g, err := s.WriteScratch(t.Context(), func(w *SegmentWriter) error { return w.AddBlock("a", data) })
		must(t, err)
		if after, err := fsys.List(dir); err != nil || !slices.Equal(before, after) {
			t.Errorf("the directory has %v, want %v: %v", after, before, err)
		}
		must(t, s.Close())
		if got, err := g.Block("a"); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(data))
		}
		runtime.KeepAlive(g)
	})
}

// TestScratchFails makes each operation on a temporary segment fail. The error must state the
// reason. After the next Open no temporary file may be left.
func TestScratchFails(t *testing.T) {
	for n := 1; ; n++ {
		at := -1
		mem := fs.NewMem()
		s := create(t, faultfs.New(mem, func(faultfs.Op) *faultfs.Fault {
			if at--; at == 0 {
				return &faultfs.Fault{Err: syscall.ENOSPC}
			}
			return nil
		}), "/graph", tiny)
		at = n
		_, err := s.WriteScratch(t.Context(), func(w *SegmentWriter) error { return w.AddBlock("a", make([]byte, 600<<10)) })
		reached := at <= 0
		at = -1
		if err == nil && !reached {
			must(t, s.Close())
			if n < 5 {
				t.Errorf("only %d operations", n-1)
			}
			return
		}
		// Ignore a failed removal of the file: the next Open removes it.
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("operation %d fails: %v", n, err)
		}
		must(t, s.Close())
		s, _ = reopen(t, mem, "/graph", tiny)
		if names, err := mem.List("/graph"); err != nil || slices.ContainsFunc(names, func(name string) bool { return len(classify([]string{name}).temps) > 0 }) {
			t.Errorf("operation %d fails: the directory has %v", n, names)
		}
		must(t, s.Close())
	}
}

// TestAddStream writes blocks in parts of different lengths. The file must equal a file in which
// each block was written at once.
func TestAddStream(t *testing.T) {
	s := create(t, fs.NewMem(), "/graph", tiny)
	defer s.Close()
	for _, size := range []int{0, 1, 63, 64, pieceSize - 1, pieceSize, pieceSize + 1, 3*pieceSize + 100} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * 7)
		}
		for _, part := range []int{1000, pieceSize, pieceSize + 1, size + 1} {
			g, err := s.WriteScratch(t.Context(), func(w *SegmentWriter) error {
				err := w.AddStream("s", func(put func([]byte) error) error {
					for rest := range slices.Chunk(data, part) {
						if err := put(rest); err != nil {
							return err
						}
					}
					return nil
				})
				return errors.Join(err, w.AddBlock("b", data))
			})
			must(t, err)
			for _, name := range g.Blocks() {
				if got, err := g.Block(name); err != nil || !bytes.Equal(got, data) {
					t.Errorf("block %s of %d bytes in parts of %d: %d bytes, %v", name, size, part, len(got), err)
				}
			}
			if a, b := g.blocks["s"], g.blocks["b"]; fmt.Sprint(a.pieces) != fmt.Sprint(b.pieces) {
				t.Errorf("%d bytes in parts of %d: checksums %x, want %x", size, part, a.pieces, b.pieces)
			}
		}
	}
}
