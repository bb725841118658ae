//go:build unix

package fs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestOnlyRegularFiles opens what a folder from somebody else may have in the place of a file.
func TestOnlyRegularFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(outside, []byte("precious"), 0o600))
	for _, tt := range []struct {
		what string
		make func(name string) error
	}{
		{"a pipe", func(name string) error { return syscall.Mkfifo(name, 0o600) }},
		{"a link out of the folder", func(name string) error { return os.Symlink(outside, name) }},
		{"a link to a file of the folder", func(name string) error { return os.Symlink("plain", name) }},
		{"a link to a device", func(name string) error { return os.Symlink("/dev/zero", name) }},
		{"a link to nothing", func(name string) error { return os.Symlink("nowhere", name) }},
		{"a folder", func(name string) error { return os.Mkdir(name, 0o700) }},
	} {
		t.Run(tt.what, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "file")
			must(os.WriteFile(filepath.Join(dir, "plain"), []byte("plain"), 0o600))
			locked, err := fs.OS().LockDir(dir, "LOCK")
			must(err)
			defer locked.Close()
			must(tt.make(name))
			for _, fsys := range []fs.FS{fs.OS(), locked} {
				_, err := fsys.Open(name)
				_, err2 := fsys.OpenWrite(name)
				_, err3 := fsys.Map(name)
				_, err4 := fsys.Lock(name)
				_, err5 := fs.ReadFile(fsys, name)
				_, err6 := fsys.LockDir(dir, "file")
				for i, err := range []error{err, err2, err3, err4, err5} {
					if !errors.Is(err, fs.ErrNotRegular) {
						t.Errorf("operation %d of %T: found %v", i, fsys, err)
					}
				}
				if err6 == nil {
					t.Errorf("%T: locked the folder twice", fsys)
				}
				if _, err := fsys.Create(name); !errors.Is(err, os.ErrExist) {
					t.Errorf("%T: created a file in its place: %v", fsys, err)
				}
			}
			must(locked.Close())
			if _, err := fs.OS().LockDir(dir, "file"); !errors.Is(err, fs.ErrNotRegular) {
				t.Errorf("the lock file: found %v", err)
			}
		})
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "precious" {
		t.Errorf("the file outside has %q, %v", text, err)
	}
}

// TestReadFileWithHoles reads a file whose content is larger than the memory.
func TestReadFileWithHoles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 1<<42); err != nil {
		t.Skip(err)
	}
	if _, err := fs.ReadFile(fs.OS(), name); err == nil {
		t.Error("a file of 4 TiB was read")
	}
}
