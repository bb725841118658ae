package fs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// lockedDir locks a new directory and creates a file in it.
func lockedDir(t testing.TB) (d fs.Dir, path string, f fs.File, name string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := fs.OS().LockDir(path, "LOCK")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	name = filepath.Join(path, "a")
	if f, err = d.Create(name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return d, path, f, name
}

// TestLockDir moves a locked directory. The directory must stay locked and its files accessible,
// and Check must report the move.
func TestLockDir(t *testing.T) {
	d, path, f, name := lockedDir(t)
	if err := d.Check(f, name); err != nil {
		t.Error(err)
	}
	var held *fs.LockedError
	if _, err := fs.OS().LockDir(path, "LOCK"); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("locked again: %v", err)
	}
	if err := os.Remove(filepath.Join(path, "LOCK")); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.OS().LockDir(path, "LOCK"); !errors.As(err, &held) {
		t.Errorf("locked again without LOCK: %v", err)
	}
	if err := d.Check(f, name); err != nil {
		t.Errorf("without LOCK: %v", err)
	}
	moved := path + ".moved"
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	var gone *fs.MovedError
	if err := d.Check(f, name); !errors.As(err, &gone) {
		t.Errorf("after a rename: %v, want *fs.MovedError", err)
	}
	if _, err := fs.OS().LockDir(moved, "LOCK"); !errors.As(err, &held) {
		t.Errorf("locked again by its new name: %v", err)
	}
	// Operations with the old path work on the locked directory.
	b, err := d.Create(filepath.Join(path, "b"))
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := errors.Join(d.Rename(filepath.Join(path, "b"), filepath.Join(path, "c")), d.SyncDir(path)); err != nil {
		t.Error(err)
	}
	names, err := d.List(path)
	if err != nil || len(names) != 2 || names[1] != "c" {
		t.Errorf("listed %v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(moved, "c")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
		t.Errorf("the directory in its place holds %v, %v", entries, err)
	}
	if err := d.Remove(filepath.Join(path, "c")); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := fs.OS().LockDir(moved, "LOCK")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestCheckFile moves, removes and replaces an open file.
func TestCheckFile(t *testing.T) {
	for what, do := range map[string]func(name string) error{
		"renamed":  func(name string) error { return os.Rename(name, name+".old") },
		"removed":  os.Remove,
		"replaced": func(name string) error { return errors.Join(os.Remove(name), os.WriteFile(name, nil, 0o600)) },
	} {
		d, _, f, name := lockedDir(t)
		if err := do(name); err != nil {
			t.Fatal(err)
		}
		var gone *fs.MovedError
		if err := d.Check(f, name); !errors.As(err, &gone) || gone.Name != name {
			t.Errorf("%s: %v, want *fs.MovedError", what, err)
		}
	}
}

// TestShared gives a file a second name, a hard link in another directory. The file must not open
// for writing in that directory.
func TestShared(t *testing.T) {
	d, path, _, name := lockedDir(t)
	if shared, err := d.Shared(name); shared || err != nil {
		t.Errorf("shared %t, %v", shared, err)
	}
	other := path + ".other"
	if err := errors.Join(os.Mkdir(other, 0o700), os.Link(name, filepath.Join(other, "a"))); err != nil {
		t.Fatal(err)
	}
	if shared, err := d.Shared(name); !shared || err != nil {
		t.Errorf("shared %t, %v", shared, err)
	}
	d2, err := fs.OS().LockDir(other, "LOCK")
	if err != nil {
		t.Fatal(err)
	}
	defer d2.Close()
	var held *fs.LockedError
	if _, err := d2.OpenWrite(filepath.Join(other, "a")); !errors.As(err, &held) {
		t.Errorf("opened for writing in two directories: %v", err)
	}
}

func BenchmarkCheck(b *testing.B) {
	d, _, f, name := lockedDir(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Check(f, name); err != nil {
			b.Fatal(err)
		}
	}
}
