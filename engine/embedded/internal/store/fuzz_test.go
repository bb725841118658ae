package store

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// FuzzLog scans arbitrary bytes as the frames of a log file, once unchanged and once with
// corrected checksums.
func FuzzLog(f *testing.F) {
	h := logHeader{number: 3, first: 7, salt: 11}
	two := appendFrame(nil, frameHeader{lsn: 7, position: 1, length: 3, payloadCRC: payloadChecksum([]byte("abc"))}, h.seed(), []byte("abc"))
	f.Add(two)
	f.Add(appendFrame(two, frameHeader{lsn: 8, position: 2}, h.seed(), nil))
	f.Add(appendFrame(two, frameHeader{lsn: 9, position: 2}, h.seed(), nil))
	f.Add(append(make([]byte, 32), two...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		scanAny(t, h, raw)
		fixed := append([]byte(nil), raw...)
		for rest := fixed; len(rest) >= frameHeaderSize; {
			copy(rest, frameMagic)
			size := frameSize(int(le.Uint32(rest[16:])))
			if size <= int64(len(rest)) {
				le.PutUint32(rest[24:], checksum(rest[frameHeaderSize:size]))
			}
			le.PutUint32(rest[28:], updateChecksum(h.seed(), rest[:28]))
			rest = rest[min(size, int64(len(rest))):]
		}
		scanAny(t, h, fixed)
	})
}

func scanAny(t *testing.T, h logHeader, frames []byte) {
	data := append(h.encode(), frames...)
	s, err := scanLog(data, h, "log")
	if !onlyCorrupt(err, "log") && err != nil {
		t.Fatal(err)
	}
	if s.end < logHeaderSize || s.lastWrite > s.end || s.tornEnd < s.end || max(s.tornEnd, s.end) > int64(len(data)) {
		t.Fatalf("%d bytes: the last write starts at %d, the end is %d, debris to %d", len(data), s.lastWrite, s.end, s.tornEnd)
	}
	if s.next != h.first+uint64(len(s.records)) {
		t.Fatalf("%d records, the next is %d", len(s.records), s.next)
	}
	// After the debris is cleared, a second scan finds no debris and the same records.
	clear(data[s.end:max(s.end, s.tornEnd)])
	again, err := scanLog(data, h, "log")
	if err == nil && (again.next != s.next || again.tornEnd != again.end) {
		t.Fatalf("records up to %d and debris to %d after clearing, before: %d", again.next, again.tornEnd, s.next)
	}
}

// isOtherFormat reports whether an error is that of data in a newer or an older format.
func isOtherFormat(err error) bool {
	return errors.As(err, new(*engine.NewerFormat)) || errors.As(err, new(*engine.OlderFormat))
}

func FuzzLogHeader(f *testing.F) {
	h := logHeader{number: 3, first: 7, salt: 11, size: 1 << 20}
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, page []byte) {
		if len(page) >= logHeaderSize {
			le.PutUint32(page[logHeaderSize-4:], checksum(page[:logHeaderSize-4]))
		}
		got, err := decodeLogHeader(page, 1<<20, "log", 3)
		if err != nil && !onlyCorrupt(err, "log") && !isOtherFormat(err) {
			t.Fatal(err)
		}
		if err == nil && (got.number != 3 || got.first == 0 || got.size != 1<<20) {
			t.Fatalf("header %+v", got)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add(manifest{number: 5, next: 1}.encode())
	f.Add(manifest{number: 5, upTo: 9, next: 4, payload: []byte("payload"),
		segments: []manifestEntry{{id: 1, size: 200, crc: 3}, {id: 3, size: 300, crc: 4}}}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 {
			le.PutUint32(data[len(data)-4:], checksum(data[:len(data)-4]))
		}
		m, err := decodeManifest(data, "manifest", 5)
		if err != nil {
			if !onlyCorrupt(err, "manifest") && !isOtherFormat(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := decodeManifest(m.encode(), "manifest", 5)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

func FuzzFooter(f *testing.F) {
	none, _ := encodeFooter(nil, segmentHeaderSize)
	f.Add(none, uint16(segmentHeaderSize))
	two, _ := encodeFooter([]blockEntry{
		{name: "a", offset: 64, length: 64, pieces: []uint32{1}},
		{name: "b", offset: 128, length: 1, pieces: []uint32{2}},
	}, 192)
	f.Add(two, uint16(192))
	f.Fuzz(func(t *testing.T, footer []byte, start uint16) {
		size := int64(start) + int64(len(footer))
		if n := len(footer) - segmentTrailerSize; n >= 0 {
			le.PutUint64(footer[n:], uint64(start))
			le.PutUint64(footer[n+8:], uint64(size))
			le.PutUint32(footer[n+28:], checksum(footer[:n+28]))
		}
		blocks, _, err := decodeFooter(footer, "segment", size)
		if err != nil {
			if !onlyCorrupt(err, "segment") && !isOtherFormat(err) {
				t.Fatal(err)
			}
			return
		}
		end := int64(segmentHeaderSize)
		for _, b := range blocks {
			if b.offset != end || b.length < 0 {
				t.Fatalf("block %+v, expected offset %d", b, end)
			}
			end += pad(b.length, blockAlign)
			if n := int64(len(b.pieces)); n != (end-b.offset+pieceSize-1)/pieceSize {
				t.Fatalf("block %+v has %d checksums", b, n)
			}
		}
		if end != int64(start) {
			t.Fatalf("the blocks end at %d of %d", end, start)
		}
	})
}

// FuzzChunks unpacks arbitrary bytes as a block that is compressed in chunks. The outcome must be a
// *engine.Corrupt or a result of the length that the footer states.
func FuzzChunks(f *testing.F) {
	text := bytes.Repeat([]byte("some text, again and again. "), 5000)
	f.Add(slices.Concat(packChunks(text, false)...), uint32(len(text)), false)
	f.Add(slices.Concat(packChunks(text[:len(text)&^3], true)...), uint32(len(text)&^3), true)
	f.Fuzz(func(t *testing.T, packed []byte, unpacked uint32, delta bool) {
		b := blockEntry{name: "b", codec: codecChunks, length: int64(len(packed)), unpacked: int64(unpacked % (1 << 20))}
		if delta {
			b.codec = codecDeltaChunks
		}
		out, err := b.unpack(packed, "file")
		if err != nil && !onlyCorrupt(err, "file") || err == nil && int64(len(out)) != b.unpacked {
			t.Fatalf("%d bytes of %d, %v", len(out), b.unpacked, err)
		}
	})
}
