package fs

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestAdvice gives advice on ranges that do not begin at a page: ranges of a mapped file, of an
// empty file and of a copy in memory. The content must not change.
func TestAdvice(t *testing.T) {
	for _, f := range []FS{OS(), NewMem()} {
		for _, size := range []int{0, 1, 100_000} {
			folder := t.TempDir()
			if err := f.MkdirAll(folder); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(folder, "file")
			file, err := f.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.Repeat([]byte{7}, size)
			if _, err := file.WriteAt(want, 0); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			m, err := f.Map(name)
			if err != nil {
				t.Fatal(err)
			}
			m.ReadRandomly()
			m.Fetch(size/3, size/2)
			m.ReadThrough(size/2, size)
			m.Fetch(size, size)
			if !bytes.Equal(m.Bytes(), want) {
				t.Errorf("%T: the content of %d bytes has changed", f, size)
			}
		}
	}
}
