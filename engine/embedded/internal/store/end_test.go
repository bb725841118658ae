package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// appended makes a store with three records and returns the files that a kill leaves
// behind.
func appended(t *testing.T) (killed *fs.Mem) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	for i := range 3 {
		_, err := s.Append(t.Context(), 1, fmt.Append(nil, "record ", i))
		must(t, err)
	}
	killed = mem.Crash(0)
	must(t, s.Close())
	return killed
}

// damageLast changes a byte of the last write in the log file and returns the file's name.
func damageLast(t *testing.T, mem *fs.Mem, number uint64) (name string) {
	t.Helper()
	name = filename("/g", number, logExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	_, last := frames(t, data)
	data[last+frameHeaderSize] ^= 1
	replace(t, mem, name, data)
	return name
}

// TestLastRecord corrupts the last record. After a kill, Open must regard the corruption as a torn
// write. Once any process has closed the store properly, Open must report corruption.
func TestLastRecord(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   func(t *testing.T, mem *fs.Mem) // what happens after the kill
		corrupt bool
	}{
		{"a kill", func(*testing.T, *fs.Mem) {}, false},
		{"a close without a write", func(t *testing.T, mem *fs.Mem) {
			s, rec := reopen(t, mem, "/g", tiny)
			if len(rec.Records) != 3 {
				t.Fatalf("%d records", len(rec.Records))
			}
			must(t, s.Close())
		}, true},
		{"a verify and a close", func(t *testing.T, mem *fs.Mem) {
			s, _ := reopen(t, mem, "/g", tiny)
			must(t, s.Verify(t.Context()))
			must(t, s.Close())
		}, true},
		{"a write and a close", func(t *testing.T, mem *fs.Mem) {
			s, _ := reopen(t, mem, "/g", tiny)
			_, err := s.Append(t.Context(), 1, []byte("another"))
			must(t, err)
			must(t, s.Close())
		}, true},
		{"a close, and a write and a kill", func(t *testing.T, mem *fs.Mem) {
			s, _ := reopen(t, mem, "/g", tiny)
			must(t, s.Close())
			s, _ = reopen(t, mem, "/g", tiny)
			_, err := s.Append(t.Context(), 1, []byte("another"))
			must(t, err)
			killed := mem.Crash(0)
			must(t, s.Close())
			for _, name := range []string{filename("/g", 1, logExt), filepath.Join("/g", endName)} {
				data, err := fs.ReadFile(killed, name)
				must(t, err)
				replace(t, mem, name, data)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := appended(t)
			c.after(t, mem)
			name := damageLast(t, mem, 1)
			s, rec, err := Open(t.Context(), mem, "/g", tiny)
			if err == nil {
				defer s.Close()
			}
			switch {
			case c.corrupt && !onlyCorrupt(err, name):
				t.Errorf("open: %v, want *engine.Corrupt", err)
			case !c.corrupt && (err != nil || len(rec.Records) < 2):
				t.Errorf("open: %v, %+v, want the records before the torn one", err, rec)
			}
			if c.corrupt {
				if err := Verify(t.Context(), mem, "/g"); !onlyCorrupt(err, name) {
					t.Errorf("verify: %v, want *engine.Corrupt", err)
				}
			}
		})
	}
}

// TestMissingEnd removes END. A store of this format requires it, so Open must report corruption.
func TestMissingEnd(t *testing.T) {
	mem := appended(t)
	name := filepath.Join("/g", endName)
	must(t, mem.Remove(name))
	if _, _, err := Open(t.Context(), mem, "/g", tiny); !onlyCorrupt(err, name) {
		t.Errorf("open: %v, want *engine.Corrupt", err)
	}
}

// TestNewerFormat opens a store in which one file has the next format number. The error must contain
// both numbers and must say to use a newer program. The files must not change.
func TestNewerFormat(t *testing.T) {
	for _, file := range []struct{ name, kind string }{
		{filepath.Join("/g", endName), "END"},
		{filename("/g", 1, manifestExt), "manifest"},
	} {
		mem := appended(t)
		data, err := fs.ReadFile(mem, file.name)
		must(t, err)
		le.PutUint32(data[8:], format.Current+1)
		le.PutUint32(data[len(data)-4:], checksum(data[:len(data)-4]))
		replace(t, mem, file.name, data)
		before := contents(t, mem)
		_, _, err = Open(t.Context(), mem, "/g", tiny)
		var newer *engine.NewerFormat
		want := fmt.Sprintf("%s was written by a newer version of this program: %s format %d is newer than format %d, the newest that this program reads; use a newer program", file.name, file.kind, format.Current+1, format.Current)
		if !errors.As(err, &newer) || newer.Error() != want || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "corrupt") {
			t.Errorf("open: %v\nwant the error %q", err, want)
		}
		if after := contents(t, mem); !maps.Equal(after, before) {
			t.Errorf("the refusal changed the files from\n%q\nto\n%q", before, after)
		}
	}
}

// contents returns the content of each file of the store, by name.
func contents(t *testing.T, mem *fs.Mem) map[string]string {
	t.Helper()
	names, err := mem.List("/g")
	must(t, err)
	all := map[string]string{}
	for _, name := range names {
		data, err := fs.ReadFile(mem, filepath.Join("/g", name))
		must(t, err)
		all[name] = string(data)
	}
	return all
}

// TestEndNotWritten closes a store while the disk rejects the write of END. The close must succeed,
// and the store must open again.
func TestEndNotWritten(t *testing.T) {
	mem := appended(t)
	failing := false
	s, _ := reopen(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		if failing {
			return &faultfs.Fault{Err: errors.New("no")}
		}
		return nil
	}), "/g", tiny)
	failing = true
	must(t, s.Close())
	s, rec := reopen(t, mem, "/g", tiny)
	defer s.Close()
	if len(rec.Records) != 3 {
		t.Errorf("%d records, want 3", len(rec.Records))
	}
}
