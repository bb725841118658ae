package store

import (
	"bytes"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	manifestHeaderSize = 48 // in bytes
	manifestEntrySize  = 24 // bytes for one segment
)

// manifestMagic is the start of a manifest file.
var manifestMagic = []byte("OGMANIF\x00")

// manifest describes the state of the graph after a record.
type manifest struct {
	number   uint64          // number of the manifest, as in its file name
	upTo     uint64          // LSN of the last record with an effect in this manifest
	next     SegmentID       // id of the next segment
	segments []manifestEntry // in order of id
	payload  []byte          // content that the caller of Checkpoint defines
}

// manifestEntry describes a segment that a manifest lists.
type manifestEntry struct {
	id   SegmentID
	size int64  // in bytes
	crc  uint32 // checksum of the segment's footer
}

// encode returns the bytes of the manifest file.
func (m manifest) encode() []byte {
	buf := make([]byte, 0, manifestHeaderSize+len(m.segments)*manifestEntrySize+len(m.payload)+4)
	buf = append(buf, manifestMagic...)
	buf = le.AppendUint32(buf, format.Current)
	buf = le.AppendUint32(buf, uint32(len(m.segments)))
	buf = le.AppendUint64(buf, m.number)
	buf = le.AppendUint64(buf, m.upTo)
	buf = le.AppendUint64(buf, uint64(m.next))
	buf = le.AppendUint64(buf, uint64(len(m.payload)))
	for _, e := range m.segments {
		buf = le.AppendUint64(buf, uint64(e.id))
		buf = le.AppendUint64(buf, uint64(e.size))
		buf = le.AppendUint32(buf, e.crc)
		buf = le.AppendUint32(buf, 0)
	}
	buf = append(buf, m.payload...)
	return le.AppendUint32(buf, checksum(buf))
}

// decodeManifest decodes a manifest. The payload of the result aliases data; an empty payload is
// nil. Any error is an *engine.Corrupt that contains the name of the file.
func decodeManifest(data []byte, file string, number uint64) (manifest, error) {
	corrupt := func(text string, args ...any) (manifest, error) {
		return manifest{}, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(text, args...)}
	}
	if len(data) < manifestHeaderSize+4 {
		return corrupt("the file has %d bytes, fewer than a header", len(data))
	}
	if !bytes.HasPrefix(data, manifestMagic) {
		return corrupt("offset 0: a manifest cannot start with %q", data[:len(manifestMagic)])
	}
	body := data[:len(data)-4]
	if want, got := le.Uint32(data[len(body):]), checksum(body); got != want {
		return corrupt("the file has checksum %08x, expected %08x", got, want)
	}
	if err := format.StoreRoot.Check(file, "offset 8", le.Uint32(data[8:])); err != nil {
		return manifest{}, err
	}
	m := manifest{number: le.Uint64(data[16:]), upTo: le.Uint64(data[24:]), next: SegmentID(le.Uint64(data[32:]))}
	if m.number != number {
		return corrupt("offset 16: this is manifest %d, expected %d", m.number, number)
	}
	entries := body[manifestHeaderSize:]
	count, length := uint64(le.Uint32(data[12:])), le.Uint64(data[40:])
	if count > uint64(len(entries))/manifestEntrySize || length != uint64(len(entries))-count*manifestEntrySize {
		return corrupt("offset 40: %d segments and %d bytes of payload do not add up to %d bytes", count, length, len(data))
	}
	for range count {
		e := manifestEntry{id: SegmentID(le.Uint64(entries)), size: int64(le.Uint64(entries[8:])), crc: le.Uint32(entries[16:])}
		if n := len(m.segments); e.id >= m.next || n > 0 && e.id <= m.segments[n-1].id {
			return corrupt("segment %d is out of order", e.id)
		}
		m.segments = append(m.segments, e)
		entries = entries[manifestEntrySize:]
	}
	if len(entries) > 0 {
		m.payload = entries[:len(entries):len(entries)]
	}
	return m, nil
}

// readManifest reads and decodes the manifest with a number.
func readManifest(fsys fs.FS, dir string, number uint64) (manifest, error) {
	name := filename(dir, number, manifestExt)
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return manifest{}, unavailable("reading the manifest", err)
	}
	return decodeManifest(data, name, number)
}
