package fs_test

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestCrashOutcomes draws many crashes of one situation. Synced data must always survive. For the
// unsynced data, every allowed outcome must occur, and no other.
func TestCrashOutcomes(t *testing.T) {
	mem := fs.NewMem()
	must(t, mem.MkdirAll("/d"))
	f, err := mem.Create("/d/synced")
	must(t, err)
	write(t, f, "old", 0)
	must(t, f.Sync())
	must(t, mem.SyncDir("/d"))
	write(t, f, "new", 0)
	write(t, f, "tail", 3)
	g, err := mem.Create("/d/tmp")
	must(t, err)
	must(t, g.Sync())
	must(t, mem.Rename("/d/tmp", "/d/final"))

	contents, names := map[string]int{}, map[string]int{}
	for seed := range uint64(2000) {
		after := mem.Crash(seed)
		data, err := fs.ReadFile(after, "/d/synced")
		must(t, err)
		contents[string(data)]++
		list, err := after.List("/d")
		must(t, err)
		for _, name := range list {
			names[name]++
		}
	}
	for _, want := range []string{"old", "newtail", "new", "newt"} {
		if contents[want] == 0 {
			t.Errorf("never %q: %v", want, contents)
		}
	}
	for text := range contents {
		for i := range len(text) {
			if c := text[i]; c != 0 && c != "newtail"[i] && (i >= 3 || c != "old"[i]) {
				t.Errorf("%q was never written", text)
			}
		}
	}
	if n := names["synced"]; n != 2000 {
		t.Errorf("a synced name survived only %d of 2000 crashes", n)
	}
	for _, name := range []string{"tmp", "final"} {
		if n := names[name]; n == 0 || n == 2000 {
			t.Errorf("%s exists after %d of 2000 crashes", name, n)
		}
	}
	if data, err := fs.ReadFile(mem, "/d/synced"); err != nil || string(data) != "newtail" {
		t.Errorf("the file system that crashed has %q, %v", data, err)
	}
}

// TestCrashCopies writes to a copy and to its original, which share pages. Neither write may be
// visible in the other file system.
func TestCrashCopies(t *testing.T) {
	mem := fs.NewMem()
	must(t, mem.MkdirAll("/"))
	f, err := mem.Create("/f")
	must(t, err)
	write(t, f, "shared", 0)
	must(t, f.Sync())
	must(t, mem.SyncDir("/"))
	after := mem.Crash(1)
	g, err := after.OpenWrite("/f")
	must(t, err)
	write(t, f, "S", 0)
	write(t, g, "D", 5)
	for _, c := range []struct {
		fsys fs.FS
		want string
	}{{mem, "Shared"}, {after, "shareD"}} {
		if data, err := fs.ReadFile(c.fsys, "/f"); err != nil || string(data) != c.want {
			t.Errorf("%q, %v, expected %q", data, err, c.want)
		}
	}
}

func TestCrashAfter(t *testing.T) {
	script := func(mem *fs.Mem) error {
		if err := mem.MkdirAll("/d"); err != nil {
			return err
		}
		f, err := mem.Create("/d/f")
		if err != nil {
			return err
		}
		if _, err := f.WriteAt([]byte("text"), 0); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		return mem.SyncDir("/d")
	}
	for n := range 6 {
		mem := fs.NewMem()
		mem.CrashAfter(n)
		err := script(mem)
		if n < 5 && !errors.Is(err, fs.ErrCrashed) || n == 5 && err != nil {
			t.Errorf("after %d operations: %v", n, err)
		}
		if mem.Ops() != n {
			t.Errorf("%d operations, expected %d", mem.Ops(), n)
		}
		if _, err := mem.List("/d"); !errors.Is(err, fs.ErrCrashed) {
			t.Errorf("reading after %d operations: %v", n, err)
		}
		data, err := fs.ReadFile(mem.Crash(0), "/d/f")
		if n == 5 && (err != nil || string(data) != "text") {
			t.Errorf("after all operations: %q, %v", data, err)
		}
		if n < 2 && !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("after %d operations: %q, %v", n, data, err)
		}
	}
}

// TestLost makes a sync fail and lose the written data. The next sync succeeds, but after a crash
// the data must be gone.
func TestLost(t *testing.T) {
	mem := fs.NewMem()
	must(t, mem.MkdirAll("/"))
	failed := false
	faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		if op.Kind == faultfs.OpSync && !failed {
			failed = true
			return &faultfs.Fault{Err: iofs.ErrInvalid, Lose: true}
		}
		return nil
	})
	f, err := faulty.Create("/f")
	must(t, err)
	must(t, faulty.SyncDir("/"))
	write(t, f, "lost", 0)
	wantIs(t, f.Sync(), iofs.ErrInvalid)
	must(t, f.Sync())
	if data, err := fs.ReadFile(mem, "/f"); err != nil || string(data) != "lost" {
		t.Errorf("before the crash: %q, %v", data, err)
	}
	for seed := range uint64(50) {
		data, err := fs.ReadFile(mem.Crash(seed), "/f")
		must(t, err)
		if bytes.Contains(data, []byte("lost")) {
			t.Fatalf("after a crash: %q", data)
		}
	}
	write(t, f, "kept", 0)
	must(t, f.Sync())
	if data, err := fs.ReadFile(mem.Crash(0), "/f"); err != nil || string(data) != "kept" {
		t.Errorf("written again: %q, %v", data, err)
	}
}

func TestFaults(t *testing.T) {
	mem := fs.NewMem()
	must(t, mem.MkdirAll("/d"))
	var seen []faultfs.OpKind
	var fault *faultfs.Fault
	faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		seen = append(seen, op.Kind)
		if op.N != len(seen) {
			t.Errorf("operation %d has number %d", len(seen), op.N)
		}
		return fault
	})
	f, err := faulty.Create("/d/f")
	must(t, err)
	fault = &faultfs.Fault{Err: iofs.ErrPermission}
	_, err = faulty.Create("/d/g")
	wantIs(t, err, iofs.ErrPermission)
	_, err = faulty.Lock("/d/LOCK")
	wantIs(t, err, iofs.ErrPermission)
	wantIs(t, faulty.Remove("/d/f"), iofs.ErrPermission)
	wantNames(t, mem, "/d", "f")

	fault = &faultfs.Fault{Err: iofs.ErrPermission, Write: 2}
	if n, err := f.WriteAt([]byte("abcd"), 0); n != 2 || !errors.Is(err, iofs.ErrPermission) {
		t.Errorf("a short write: %d, %v", n, err)
	}
	if data, err := fs.ReadFile(mem, "/d/f"); err != nil || string(data) != "ab" {
		t.Errorf("after a short write: %q, %v", data, err)
	}
	fault = &faultfs.Fault{Err: iofs.ErrPermission, Apply: true}
	wantIs(t, faulty.Rename("/d/f", "/d/g"), iofs.ErrPermission)
	wantNames(t, mem, "/d", "g")
	want := []faultfs.OpKind{faultfs.OpCreate, faultfs.OpCreate, faultfs.OpLock, faultfs.OpRemove, faultfs.OpWrite, faultfs.OpRename}
	if !slices.Equal(seen, want) {
		t.Errorf("saw %v, expected %v", seen, want)
	}
}
