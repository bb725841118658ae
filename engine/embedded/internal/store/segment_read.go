package store

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Segment is an open segment, mapped into memory. Its methods may be called concurrently.
type Segment struct {
	mapping *fs.Mapping       // the mapped file
	fill    *filler           // completes the file; nil if it has no holes
	name    string            // path of the file, for errors
	size    int64             // size of the file in bytes
	crc     uint32            // checksum of the footer
	names   []string          // names of the blocks, in the order of the file
	blocks  map[string]*block // by name
}

// OpenSegment opens a segment; it reads only the footer. The segment stays readable as long
// as something refers to it, even after a checkpoint removes the file or the store is
// closed. The error is an *engine.NotFound or an *engine.Corrupt.
func (s *Store) OpenSegment(ctx context.Context, id SegmentID) (*Segment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := filename(s.dir, uint64(id), segmentExt)
	s.mu.Lock()
	state, closed := s.segments[id], s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, &engine.Unavailable{Reason: "it is closed"}
	case state == nil:
		return nil, &engine.NotFound{What: "segment", Name: name}
	}
	seg, err := mapSegment(s.fsys, name, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &engine.Unavailable{Reason: "it is closed"}
	case state.known && (state.size != seg.size || state.crc != seg.crc):
		return nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
			"the segment has %d bytes and footer checksum %08x, expected %d bytes and checksum %08x", seg.size, seg.crc, state.size, state.crc)}
	}
	state.known, state.size, state.crc = true, seg.size, seg.crc
	return seg, nil
}

// Name returns the name of the segment's file.
func (g *Segment) Name() string { return g.name }

// Blocks returns the names of the blocks in the order in which they were added.
func (g *Segment) Blocks() []string { return g.names }

// read reads and verifies a block.
func (b *blockEntry) read(f io.ReaderAt, file string) error {
	data := make([]byte, pad(b.length, blockAlign))
	if n, err := f.ReadAt(data, b.offset); n < len(data) {
		return readFailure(file, err)
	}
	if err := b.verify(data, file); err != nil || b.codec == codecNone {
		return err
	}
	_, err := b.unpack(data[:b.length], file)
	return err
}

// readFilled reads and verifies the pieces of a block that are no holes of the file, which read as zeros.
func (b *blockEntry) readFilled(f io.ReaderAt, file string) error {
	data := make([]byte, pad(b.length, blockAlign))
	if n, err := f.ReadAt(data, b.offset); n < len(data) {
		return readFailure(file, err)
	}
	for i := range b.pieces {
		if err := b.verifyPiece(data, i, file); err != nil && bytes.Trim(data[i*pieceSize:min((i+1)*pieceSize, len(data))], "\x00") != nil {
			return err
		}
	}
	return nil
}

// verify checks the checksums of a block; data includes the padding.
func (b *blockEntry) verify(data []byte, file string) error {
	for i := range b.pieces {
		if err := b.verifyPiece(data, i, file); err != nil {
			return err
		}
	}
	return nil
}

// verifyPiece verifies the checksum of piece i of a block; data is the whole block, including the
// padding.
func (b *blockEntry) verifyPiece(data []byte, i int, file string) error {
	start := i * pieceSize
	piece := data[start:min(start+pieceSize, len(data))]
	if got, want := checksum(piece), b.pieces[i]; got != want {
		return &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
			"block %q, offset %d: %d bytes have checksum %08x, expected %08x",
			b.name, b.offset+int64(start), len(piece), got, want)}
	}
	return nil
}

// mapSegment maps a segment into memory and reads its footer.
func mapSegment(fsys fs.FS, name string, id SegmentID) (*Segment, error) {
	m, err := fsys.Map(name)
	if err != nil {
		return nil, unavailable("opening a segment", err)
	}
	m.ReadRandomly()
	g, err := readFooter(bytes.NewReader(m.Bytes()), int64(len(m.Bytes())), name, id)
	if err != nil {
		return nil, err
	}
	g.mapping = m
	return g, nil
}

// coldEntrySize is the size of a block's compression fields in a footer, in bytes.
const coldEntrySize = 9

// maxFooter is the greatest length of the footer of a segment, in bytes. The checksums of a block take 4 bytes for
// each 64 KiB, so this is enough for segments of 16 TiB.
const maxFooter = 1 << 30

// readFooter returns the segment with its footer decoded, but not mapped.
func readFooter(f io.ReaderAt, size int64, name string, id SegmentID) (*Segment, error) {
	if size < segmentHeaderSize+segmentTrailerSize {
		return nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
			"the file has %d bytes, fewer than a header and a footer", size)}
	}
	var header [segmentHeaderSize]byte
	if n, err := f.ReadAt(header[:], 0); n < len(header) {
		return nil, readFailure(name, err)
	}
	if err := checkSegmentHeader(header[:], name, id); err != nil {
		return nil, err
	}
	var trailer [segmentTrailerSize]byte
	if n, err := f.ReadAt(trailer[:], size-segmentTrailerSize); n < len(trailer) {
		return nil, readFailure(name, err)
	}
	start, err := footerOffset(trailer[:], name, size)
	if err != nil {
		return nil, err
	}
	if size-start > maxFooter {
		return nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
			"offset %d: the footer would have %d bytes, and at most %d are possible", size-segmentTrailerSize, size-start, maxFooter)}
	}
	footer := make([]byte, size-start)
	if n, err := f.ReadAt(footer, start); n < len(footer) {
		return nil, readFailure(name, err)
	}
	entries, crc, err := decodeFooter(footer, name, size)
	if err != nil {
		return nil, err
	}
	g := &Segment{name: name, size: size, crc: crc, blocks: make(map[string]*block, len(entries))}
	for _, e := range entries {
		if g.blocks[e.name] != nil {
			return nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf("two blocks have the name %q", e.name)}
		}
		g.names = append(g.names, e.name)
		g.blocks[e.name] = &block{blockEntry: e}
	}
	return g, nil
}

// checkSegmentHeader returns an error unless h is the header of segment `id` in `file`.
func checkSegmentHeader(h []byte, file string, id SegmentID) error {
	corrupt := func(text string, args ...any) error {
		return &engine.Corrupt{Object: file, Detail: fmt.Sprintf(text, args...)}
	}
	if !bytes.HasPrefix(h, segmentMagic) {
		return corrupt("offset 0: a segment cannot start with %q", h[:len(segmentMagic)])
	}
	if want, got := le.Uint32(h[60:]), checksum(h[:60]); got != want {
		return corrupt("offset 0: the header has checksum %08x, expected %08x", got, want)
	}
	if err := format.SegmentFile.Check(file, "offset 8", le.Uint32(h[8:])); err != nil {
		return err
	}
	if got := SegmentID(le.Uint64(h[16:])); got != id {
		return corrupt("offset 16: the header is that of segment %d, expected %d", got, id)
	}
	return nil
}

// footerOffset returns the offset of the footer. It does not verify the footer's checksum.
func footerOffset(trailer []byte, file string, size int64) (int64, error) {
	if !bytes.Equal(trailer[32:], segmentEndMagic) {
		return 0, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
			"offset %d: a segment cannot end with %q", size-8, trailer[32:])}
	}
	start := le.Uint64(trailer)
	if start < segmentHeaderSize || start > uint64(size-segmentTrailerSize) || start%blockAlign != 0 {
		return 0, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
			"offset %d: the footer cannot start at %d", size-segmentTrailerSize, start)}
	}
	return int64(start), nil
}

// decodeFooter decodes the footer, which is at the end of a segment of `size` bytes. It checks that
// the blocks follow each other without gaps, so that every byte of the segment is under a checksum.
// It also returns the footer's checksum.
func decodeFooter(footer []byte, file string, size int64) ([]blockEntry, uint32, error) {
	corrupt := func(text string, args ...any) ([]blockEntry, uint32, error) {
		return nil, 0, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(text, args...)}
	}
	if len(footer) < segmentTrailerSize {
		return corrupt("the footer has %d bytes, fewer than %d", len(footer), segmentTrailerSize)
	}
	start := size - int64(len(footer))
	rest := footer[:len(footer)-segmentTrailerSize]
	trailer := footer[len(rest):]
	crc := le.Uint32(trailer[28:])
	if got := checksum(footer[:len(rest)+28]); got != crc {
		return corrupt("the footer has checksum %08x, expected %08x", got, crc)
	}
	if !bytes.Equal(trailer[32:], segmentEndMagic) {
		return corrupt("the footer cannot end with %q", trailer[32:])
	}
	if err := format.SegmentFile.Check(file, "", le.Uint32(trailer[20:])); err != nil {
		return nil, 0, err
	}
	if got := le.Uint64(trailer[8:]); got != uint64(size) {
		return corrupt("the footer says that the segment has %d bytes, but it has %d", got, size)
	}
	if got := le.Uint64(trailer); got != uint64(start) {
		return corrupt("the footer starts at %d, expected %d", start, got)
	}
	count := le.Uint32(trailer[16:])
	var blocks []blockEntry
	end := int64(segmentHeaderSize)
	for i := range count {
		if len(rest) < 18 {
			return corrupt("the footer ends within the entry of block %d of %d", i+1, count)
		}
		offset, length, nameLen := le.Uint64(rest), le.Uint64(rest[8:]), int(le.Uint16(rest[16:]))
		rest = rest[18:]
		if offset != uint64(end) || length > uint64(start-end) || pad(int64(length), blockAlign) > start-end {
			return corrupt("block %d of %d has offset %d and length %d, expected offset %d and an end before %d",
				i+1, count, offset, length, end, start)
		}
		end += pad(int64(length), blockAlign)
		pieces := int((end - int64(offset) + pieceSize - 1) / pieceSize)
		if len(rest) < nameLen || (len(rest)-nameLen)/4 < pieces {
			return corrupt("the footer ends within the entry of block %d of %d", i+1, count)
		}
		b := blockEntry{name: string(rest[:nameLen]), offset: int64(offset), length: int64(length), pieces: make([]uint32, pieces)}
		rest = rest[nameLen:]
		if (len(rest)-coldEntrySize)/4 < pieces {
			return corrupt("the footer ends within the entry of block %d of %d", i+1, count)
		}
		b.codec, b.unpacked = rest[0], int64(le.Uint64(rest[1:]))
		if b.codec != codecNone && !b.inChunks() || b.unpacked < 0 || b.unpacked > maxCold || b.unpacked/maxRatio > b.length || b.codec == codecNone && b.unpacked != b.length {
			return corrupt("block %d of %d has codec %d and claims %d bytes packed into %d, which is not possible", i+1, count, b.codec, b.unpacked, b.length)
		}
		rest = rest[coldEntrySize:]
		for p := range b.pieces {
			b.pieces[p] = le.Uint32(rest)
			rest = rest[4:]
		}
		blocks = append(blocks, b)
	}
	if len(rest) > 0 || end != start {
		return corrupt("%d bytes follow the entries of the %d blocks, which end at %d of %d", len(rest), count, end, start)
	}
	return blocks, crc, nil
}

// readFailure returns an *engine.Corrupt for a file that ends too soon, and an
// *engine.Unavailable for a file that cannot be read.
func readFailure(file string, err error) error {
	if err == io.EOF {
		return &engine.Corrupt{Object: file, Detail: "the file ends too early"}
	}
	return unavailable("reading a segment", err)
}
