package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// sample returns the files of a closed store with a manifest, a segment that the manifest
// names, a segment that a record names, and three log files in use.
func sample(t testing.TB) *fs.Mem {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	first := segment(t, s, 100)
	appendAll := func(n int) {
		for i := range n {
			_, err := s.Append(t.Context(), 7, payload(i))
			must(t, err)
		}
	}
	appendAll(5)
	must(t, s.Checkpoint(t.Context(), []byte("the payload"), 3, []SegmentID{first}))
	id := segment(t, s, pieceSize+10)
	_, err := s.Append(t.Context(), 8, fmt.Append(nil, "names segment ", id), id)
	must(t, err)
	appendAll(30)
	must(t, s.Close())
	return mem
}

func TestFlippedBytes(t *testing.T) {
	slow.Test(t)
	mem := sample(t)
	names, err := mem.List("/g")
	must(t, err)
	found := classify(names)
	if len(found.logs) != 3 || len(found.segments) != 2 || len(found.manifests) != 1 {
		t.Fatalf("the sample has %v", names)
	}
	for _, name := range names {
		name := filepath.Join("/g", name)
		data, err := fs.ReadFile(mem, name)
		must(t, err)
		end := len(data)
		if filepath.Ext(name) == logExt {
			end, _ = frames(t, data)
		}
		step := 1
		if end > 1<<16 {
			step = 97
		}
		for off := 0; off < end; off += step {
			bad := mem.Crash(0)
			flipped := slices.Clone(data)
			flipped[off] ^= 1 << (off % 8)
			replace(t, bad, name, flipped)
			if err := Verify(t.Context(), bad, "/g"); !onlyCorrupt(err, name) {
				t.Fatalf("%s, offset %d: verify: %v", name, off, err)
			}
			if err := readEverything(t, bad); !onlyCorrupt(err, name) {
				t.Fatalf("%s, offset %d: open: %v", name, off, err)
			}
		}
	}
}

// TestPiecesVerified damages one piece of a block. A range of another piece must still be readable,
// and a range that touches the damaged piece must not.
func TestPiecesVerified(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	id := segment(t, s, 3*pieceSize)
	must(t, s.Checkpoint(t.Context(), nil, 0, []SegmentID{id}))
	must(t, s.Close())
	name := filename("/g", uint64(id), segmentExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	data[segmentHeaderSize+pieceSize+5] ^= 1
	replace(t, mem, name, data)
	s, _ = reopen(t, mem, "/g", tiny)
	defer s.Close()
	seg, err := s.OpenSegment(t.Context(), id)
	must(t, err)
	p, err := seg.Pieces(seg.Blocks()[0])
	must(t, err)
	for _, test := range []struct {
		from, to int
		ok       bool
	}{
		{0, pieceSize, true},
		{2 * pieceSize, 3 * pieceSize, true},
		{pieceSize - 1, pieceSize + 1, false},
		{pieceSize, pieceSize + 1, false},
		{0, 3 * pieceSize, false},
		{pieceSize, pieceSize, true},
	} {
		p.Prefetch(test.from, test.to)
		got, err := p.Range(test.from, test.to)
		if test.ok && (err != nil || len(got) != test.to-test.from) || !test.ok && !onlyCorrupt(err, name) {
			t.Errorf("range %d to %d: %d bytes, %v", test.from, test.to, len(got), err)
		}
	}
	if _, err := seg.Block(seg.Blocks()[0]); !onlyCorrupt(err, name) {
		t.Errorf("the whole block: %v", err)
	}
}

// TestMissingFiles removes, empties and shortens each file. Opening the store and reading it must
// report the fault.
func TestMissingFiles(t *testing.T) {
	mem := sample(t)
	names, err := mem.List("/g")
	must(t, err)
	for _, name := range names {
		name := filepath.Join("/g", name)
		data, err := fs.ReadFile(mem, name)
		must(t, err)
		for _, n := range []int{-1, 0, 1, min(40, len(data)-2), len(data) / 2, len(data) - 1} {
			bad := mem.Crash(0)
			if n < 0 {
				must(t, bad.Remove(name))
			} else {
				replace(t, bad, name, data[:n])
			}
			err := readEverything(t, bad)
			var notFound *engine.NotFound
			switch {
			case filepath.Ext(name) == manifestExt && n < 0:
				if !errors.As(err, &notFound) {
					t.Errorf("%s removed: %v", name, err)
				}
			case name == filename("/g", 3, logExt) && n < 0:
				// The preceding log file ends too early.
				if !onlyCorrupt(err, filename("/g", 2, logExt)) {
					t.Errorf("%s removed: %v", name, err)
				}
			case name == filename("/g", 2, segmentExt) && n < 0:
				// Only the caller knows which segments the records name.
				must(t, err)
			case !onlyCorrupt(err, name):
				t.Errorf("%s cut to %d of %d: %v", name, n, len(data), err)
			}
		}
	}
}

// TestForeignFiles replaces each file of a pair with the other.
func TestForeignFiles(t *testing.T) {
	for _, pair := range [][2]string{
		{filename("/g", 1, segmentExt), filename("/g", 2, segmentExt)},
		{filename("/g", 2, logExt), filename("/g", 1, logExt)},
		{filename("/g", 2, manifestExt), filename("/g", 3, manifestExt)},
		{filename("/g", 1, logExt), filename("/g", 1, segmentExt)},
		{filename("/g", 1, segmentExt), filename("/g", 2, manifestExt)},
	} {
		mem := sample(t)
		data, err := fs.ReadFile(mem, pair[0])
		must(t, err)
		replace(t, mem, pair[1], data)
		if err := readEverything(t, mem); !onlyCorrupt(err, pair[1]) {
			t.Errorf("%s as %s: %v", pair[0], pair[1], err)
		}
	}
}

// TestOtherStore replaces a segment with a segment of another store that has the same number. A
// read and Verify must report the file as corrupt.
func TestOtherStore(t *testing.T) {
	other := fs.NewMem()
	s := create(t, other, "/g", tiny)
	segment(t, s, 100-1)
	must(t, s.Close())
	name := filename("/g", 1, segmentExt)
	data, err := fs.ReadFile(other, name)
	must(t, err)
	mem := sample(t)
	replace(t, mem, name, data)
	if err := readEverything(t, mem); !onlyCorrupt(err, name) {
		t.Errorf("open: %v", err)
	}
	if err := Verify(t.Context(), mem, "/g"); !onlyCorrupt(err, name) {
		t.Errorf("verify: %v", err)
	}
}

// TestManifestAhead corrupts a record that is durable according to the manifest. Open must report
// the corruption.
func TestManifestAhead(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	for i := range 3 {
		_, err := s.Append(t.Context(), 1, payload(i))
		must(t, err)
	}
	must(t, s.Checkpoint(t.Context(), nil, 3, nil))
	must(t, s.Close())
	name := filename("/g", 1, logExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	_, last := frames(t, data)
	data[last] ^= 1
	replace(t, mem, name, data)
	if _, _, err := Open(t.Context(), mem, "/g", tiny); !onlyCorrupt(err, name) {
		t.Errorf("open: %v", err)
	}
}

// TestVerifyReportsAll corrupts every file.
func TestVerifyReportsAll(t *testing.T) {
	mem := sample(t)
	names, err := mem.List("/g")
	must(t, err)
	for _, name := range names {
		name := filepath.Join("/g", name)
		data, err := fs.ReadFile(mem, name)
		must(t, err)
		data[len(data)/10] ^= 0x80
		if filepath.Ext(name) == logExt {
			data[0] ^= 0x80
		}
		replace(t, mem, name, data)
	}
	err = Verify(t.Context(), mem, "/g")
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("verify: %v", err)
	}
	objects := map[string]bool{}
	for _, err := range joined.Unwrap() {
		var corrupt *engine.Corrupt
		if !errors.As(err, &corrupt) {
			t.Errorf("not corrupt: %v", err)
			continue
		}
		objects[filepath.Base(corrupt.Object)] = true
	}
	for _, name := range names {
		if !objects[name] {
			t.Errorf("nothing about %s in %v", name, err)
		}
	}
}

// TestVerifyOpen corrupts the last record of an open store, where it cannot be a torn
// write.
func TestVerifyOpen(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	defer s.Close()
	for i := range 3 {
		_, err := s.Append(t.Context(), 1, payload(i))
		must(t, err)
	}
	must(t, s.Verify(t.Context()))
	name := filename("/g", 1, logExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	_, last := frames(t, data)
	f, err := mem.OpenWrite(name)
	must(t, err)
	_, err = f.WriteAt([]byte{data[last] ^ 1}, int64(last))
	must(t, err)
	must(t, f.Close())
	if err := s.Verify(t.Context()); !onlyCorrupt(err, name) {
		t.Errorf("verify: %v", err)
	}
}

// TestTornWrite loses one record of a write and keeps a later record of the same write. The
// later one must not reappear after the records that are written next.
func TestTornWrite(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	_, err := s.Append(t.Context(), 1, []byte("first"))
	must(t, err)
	var last *Ticket
	for _, text := range []string{"lost", "kept"} {
		last, err = s.Enqueue(1, []byte(text))
		must(t, err)
	}
	must(t, s.Wait(last))
	killed := mem.Crash(0)
	must(t, s.Close())
	mem = killed
	name := filename("/g", 1, logExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	data[bytes.Index(data, []byte("lost"))] = 'c'
	replace(t, mem, name, data)

	s, rec := reopen(t, mem, "/g", tiny)
	if len(rec.Records) != 1 {
		t.Fatalf("%d records, expected 1", len(rec.Records))
	}
	_, err = s.Append(t.Context(), 1, []byte("then"))
	must(t, err)
	must(t, s.Close())
	s, rec = reopen(t, mem, "/g", tiny)
	if len(rec.Records) != 2 || string(rec.Records[1].Payload) != "then" {
		t.Fatalf("%d records, expected 2", len(rec.Records))
	}
	must(t, s.Close())
}

// TestImitation stores a log frame inside a record's payload and corrupts the record before
// it. Only a frame with the right salt counts.
func TestImitation(t *testing.T) {
	h := logHeader{number: 1, first: 1, salt: randomSalt()}
	imitation := appendFrame(nil, frameHeader{lsn: 9, position: 1}, logHeader{salt: randomSalt()}.seed(), nil)
	data := h.encode()
	data = appendFrame(data, frameHeader{lsn: 1, position: 1, length: uint32(len(imitation)), payloadCRC: 0}, h.seed(), imitation)
	scan, err := scanLog(data, h, "log")
	if err != nil || len(scan.records) != 0 {
		t.Errorf("%d records, %v", len(scan.records), err)
	}
	known := appendFrame(nil, frameHeader{lsn: 9, position: 1}, h.seed(), nil)
	var corrupt *engine.Corrupt
	if _, err := scanLog(append(data, known...), h, "log"); !errors.As(err, &corrupt) {
		t.Errorf("a frame of this file behind a bad one: %v", err)
	}
}

// readEverything opens the store and reads its segments.
func readEverything(t *testing.T, fsys fs.FS) error {
	s, _, err := Open(t.Context(), fsys, "/g", tiny)
	if err != nil {
		return err
	}
	defer s.Close()
	var errs []error
	for id := range s.segments {
		seg, err := s.OpenSegment(t.Context(), id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range seg.Blocks() {
			if _, err := seg.Block(name); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// onlyCorrupt reports whether err is one *engine.Corrupt about the file.
func onlyCorrupt(err error, file string) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return len(joined.Unwrap()) == 1 && onlyCorrupt(joined.Unwrap()[0], file)
	}
	var corrupt *engine.Corrupt
	return errors.As(err, &corrupt) && corrupt.Object == file
}

// frames returns the offset where the frames of a log file end and the offset where the
// last one starts.
func frames(t testing.TB, data []byte) (end, last int) {
	h, err := decodeLogHeader(data, int64(len(data)), "log", le.Uint64(data[16:]))
	must(t, err)
	scan, err := scanLog(data, h, "log")
	must(t, err)
	return int(scan.end), int(scan.lastWrite)
}

func replace(t testing.TB, fsys fs.FS, name string, data []byte) {
	t.Helper()
	must(t, removeIfThere(fsys, name))
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.WriteAt(data, 0)
	must(t, err)
	must(t, f.Close())
}
