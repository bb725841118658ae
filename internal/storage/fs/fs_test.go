package fs_test

import (
	"bytes"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs a test on every implementation. All must give the same results.
func each(t *testing.T, f func(t *testing.T, fsys fs.FS, dir string)) {
	t.Run("os", func(t *testing.T) { f(t, fs.OS(), t.TempDir()) })
	t.Run("mem", func(t *testing.T) {
		mem := fs.NewMem()
		must(t, mem.MkdirAll("/tmp/dir"))
		f(t, mem, "/tmp/dir")
	})
	t.Run("faulty", func(t *testing.T) {
		f(t, faultfs.New(fs.OS(), func(faultfs.Op) *faultfs.Fault { return nil }), t.TempDir())
	})
}

func TestFiles(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		_, err := fsys.Open(a)
		wantIs(t, err, iofs.ErrNotExist)
		_, err = fsys.OpenWrite(a)
		wantIs(t, err, iofs.ErrNotExist)
		wantIs(t, fsys.Remove(a), iofs.ErrNotExist)
		wantIs(t, fsys.Rename(a, b), iofs.ErrNotExist)

		f, err := fsys.Create(a)
		must(t, err)
		_, err = fsys.Create(a)
		wantIs(t, err, iofs.ErrExist)
		write(t, f, "hello", 5000)
		if size, err := f.Size(); err != nil || size != 5005 {
			t.Errorf("size %d, %v", size, err)
		}
		buf := make([]byte, 10)
		if n, err := f.ReadAt(buf, 4998); n != 7 || err != io.EOF || string(buf[:7]) != "\x00\x00hello" {
			t.Errorf("read %q, %v", buf[:n], err)
		}
		if n, err := f.ReadAt(buf, 6000); n != 0 || err != io.EOF {
			t.Errorf("a read after the end gives %q, %v", buf[:n], err)
		}
		write(t, f, "J", 5000)
		must(t, f.Sync())
		must(t, f.Close())
		wantIs(t, f.Close(), iofs.ErrClosed)
		_, err = f.WriteAt([]byte("x"), 0)
		wantIs(t, err, iofs.ErrClosed)

		data, err := fs.ReadFile(fsys, a)
		must(t, err)
		if want := append(make([]byte, 5000), "Jello"...); !bytes.Equal(data, want) {
			t.Errorf("the file has %d bytes, expected %d", len(data), len(want))
		}

		other, err := fsys.Create(b)
		must(t, err)
		must(t, other.Close())
		open, err := fsys.Open(a)
		must(t, err)
		if _, err := open.WriteAt([]byte("x"), 0); err == nil {
			t.Error("a file opened for reading can be written")
		}
		must(t, fsys.Rename(a, b))
		wantNames(t, fsys, dir, "b")
		must(t, fsys.Remove(b))
		must(t, fsys.SyncDir(dir))
		wantNames(t, fsys, dir)
		if n, err := open.ReadAt(buf[:5], 5000); n != 5 || string(buf[:5]) != "Jello" {
			t.Errorf("an open file that is removed: %q, %v", buf[:n], err)
		}
		must(t, open.Close())
	})
}

func TestDirectories(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		sub := filepath.Join(dir, "x", "y")
		_, err := fsys.List(sub)
		wantIs(t, err, iofs.ErrNotExist)
		wantIs(t, fsys.SyncDir(sub), iofs.ErrNotExist)
		_, err = fsys.Create(filepath.Join(sub, "f"))
		wantIs(t, err, iofs.ErrNotExist)
		_, err = fsys.Lock(filepath.Join(sub, "LOCK"))
		wantIs(t, err, iofs.ErrNotExist)
		must(t, fsys.MkdirAll(sub))
		must(t, fsys.MkdirAll(sub))
		for _, name := range []string{"c", "a", "b"} {
			f, err := fsys.Create(filepath.Join(sub, name))
			must(t, err)
			must(t, f.Close())
		}
		wantNames(t, fsys, sub, "a", "b", "c")
	})
}

func TestLock(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		name := filepath.Join(dir, "LOCK")
		lock, err := fsys.Lock(name)
		must(t, err)
		var locked *fs.LockedError
		if _, err := fsys.Lock(name); !errors.As(err, &locked) || locked.PID != os.Getpid() {
			t.Errorf("the second lock: %v", err)
		}
		must(t, lock.Close())
		lock, err = fsys.Lock(name)
		must(t, err)
		must(t, lock.Close())
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, expected %v", err, want)
	}
}

func wantNames(t *testing.T, fsys fs.FS, dir string, want ...string) {
	t.Helper()
	got, err := fsys.List(dir)
	must(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q, expected %q", dir, got, want)
	}
}

func write(t *testing.T, f fs.File, text string, off int64) {
	t.Helper()
	n, err := f.WriteAt([]byte(text), off)
	if err != nil || n != len(text) {
		t.Fatalf("wrote %d, %v", n, err)
	}
}
