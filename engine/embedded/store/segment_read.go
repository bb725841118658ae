package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// Segment is an open segment. Its methods may be called concurrently, Close after all
// others.
type Segment struct {
	store  *Store
	file   fs.File
	name   string
	size   int64
	crc    uint32 // of the footer
	names  []string
	blocks map[string]*block
}

// block is a block of an open segment.
type block struct {
	blockEntry
	once sync.Once
	data []byte
	err  error
}

// OpenSegment opens a segment, reading its footer alone. It stays readable until it or
// the store is closed, even when a checkpoint removes the file. The error is an
// *engine.NotFound or an *engine.Corrupt.
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
	seg, err := openSegment(s.fsys, name, id)
	if err != nil {
		return nil, err
	}
	seg.store = s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		err = &engine.Unavailable{Reason: "it is closed"}
	case state.known && (state.size != seg.size || state.crc != seg.crc):
		err = &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
			"it has %d bytes and footer checksum %08x, wanted %d and %08x", seg.size, seg.crc, state.size, state.crc)}
	}
	if err != nil {
		seg.file.Close()
		return nil, err
	}
	state.known, state.size, state.crc = true, seg.size, seg.crc
	s.open[seg] = struct{}{}
	return seg, nil
}

// Blocks returns the names of the blocks in the order in which they were added.
func (g *Segment) Blocks() []string { return g.names }

// Block returns the data of a block, at an address that is a multiple of 8. It must not
// be changed, and stays valid after Close. The checksums are verified on the first use
// after opening: the error is an *engine.Corrupt naming file and block. A block that does
// not exist is an *engine.NotFound.
func (g *Segment) Block(name string) ([]byte, error) {
	b := g.blocks[name]
	if b == nil {
		return nil, &engine.NotFound{What: "block of " + g.name, Name: name}
	}
	b.once.Do(func() { b.data, b.err = b.read(g.file, g.name) })
	return b.data, b.err
}

// Close closes the segment.
func (g *Segment) Close() error {
	if s := g.store; s != nil {
		s.mu.Lock()
		_, open := s.open[g]
		delete(s.open, g)
		s.mu.Unlock()
		if !open {
			return nil
		}
	}
	return g.file.Close()
}

// read reads and verifies a block. The memory is a multiple of 64 bytes long, which
// makes the allocator align it.
func (b *blockEntry) read(f fs.File, file string) ([]byte, error) {
	data := make([]byte, pad(b.length, blockAlign))
	if n, err := f.ReadAt(data, b.offset); n < len(data) {
		return nil, readFailure(file, err)
	}
	for i, want := range b.pieces {
		start := i * pieceSize
		piece := data[start:min(start+pieceSize, len(data))]
		if got := checksum(piece); got != want {
			return nil, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
				"block %q, offset %d: %d bytes have checksum %08x, wanted %08x",
				b.name, b.offset+int64(start), len(piece), got, want)}
		}
	}
	return data[:b.length:b.length], nil
}

func openSegment(fsys fs.FS, name string, id SegmentID) (_ *Segment, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, unavailable("opening a segment", err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	size, err := f.Size()
	if err != nil {
		return nil, unavailable("opening a segment", err)
	}
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
	footer := make([]byte, size-start)
	if n, err := f.ReadAt(footer, start); n < len(footer) {
		return nil, readFailure(name, err)
	}
	entries, crc, err := decodeFooter(footer, name, size)
	if err != nil {
		return nil, err
	}
	g := &Segment{file: f, name: name, size: size, crc: crc, blocks: make(map[string]*block, len(entries))}
	for _, e := range entries {
		if g.blocks[e.name] != nil {
			return nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf("two blocks are called %q", e.name)}
		}
		g.names = append(g.names, e.name)
		g.blocks[e.name] = &block{blockEntry: e}
	}
	return g, nil
}

func checkSegmentHeader(h []byte, file string, id SegmentID) error {
	corrupt := func(format string, args ...any) error {
		return &engine.Corrupt{Object: file, Detail: fmt.Sprintf(format, args...)}
	}
	if !bytes.HasPrefix(h, segmentMagic) {
		return corrupt("offset 0: no segment starts with %q", h[:len(segmentMagic)])
	}
	if want, got := le.Uint32(h[60:]), checksum(h[:60]); got != want {
		return corrupt("offset 0: the header has checksum %08x, wanted %08x", got, want)
	}
	if format := le.Uint32(h[8:]); format != SegmentFormat {
		return corrupt("offset 8: segment format %d is not known, the last known is %d", format, SegmentFormat)
	}
	if got := SegmentID(le.Uint64(h[16:])); got != id {
		return corrupt("offset 16: the header is that of segment %d, wanted %d", got, id)
	}
	return nil
}

// footerOffset returns where the footer starts, not yet verified.
func footerOffset(trailer []byte, file string, size int64) (int64, error) {
	if !bytes.Equal(trailer[32:], segmentEndMagic) {
		return 0, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
			"offset %d: no segment ends with %q", size-8, trailer[32:])}
	}
	start := le.Uint64(trailer)
	if start < segmentHeaderSize || start > uint64(size-segmentTrailerSize) || start%blockAlign != 0 {
		return 0, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
			"offset %d: the footer cannot start at %d", size-segmentTrailerSize, start)}
	}
	return int64(start), nil
}

// decodeFooter reads the last bytes of a segment of the given size, from where its
// footer starts. The blocks it returns lie in the segment one after the other, without
// gaps, so that every byte of it is under a checksum.
func decodeFooter(footer []byte, file string, size int64) ([]blockEntry, uint32, error) {
	corrupt := func(format string, args ...any) ([]blockEntry, uint32, error) {
		return nil, 0, &engine.Corrupt{Object: file, Detail: "footer: " + fmt.Sprintf(format, args...)}
	}
	if len(footer) < segmentTrailerSize {
		return corrupt("it has %d bytes, fewer than %d", len(footer), segmentTrailerSize)
	}
	start := size - int64(len(footer))
	rest := footer[:len(footer)-segmentTrailerSize]
	trailer := footer[len(rest):]
	crc := le.Uint32(trailer[28:])
	if got := checksum(footer[:len(rest)+28]); got != crc {
		return corrupt("it has checksum %08x, wanted %08x", got, crc)
	}
	if !bytes.Equal(trailer[32:], segmentEndMagic) {
		return corrupt("it ends with %q", trailer[32:])
	}
	if format := le.Uint32(trailer[20:]); format != SegmentFormat {
		return corrupt("segment format %d is not known, the last known is %d", format, SegmentFormat)
	}
	if got := le.Uint64(trailer[8:]); got != uint64(size) {
		return corrupt("the segment had %d bytes, it has %d", got, size)
	}
	if got := le.Uint64(trailer); got != uint64(start) {
		return corrupt("it starts at %d, wanted %d", start, got)
	}
	count := le.Uint32(trailer[16:])
	var blocks []blockEntry
	end := int64(segmentHeaderSize)
	for i := range count {
		if len(rest) < 18 {
			return corrupt("it breaks off in block %d of %d", i+1, count)
		}
		offset, length, nameLen := le.Uint64(rest), le.Uint64(rest[8:]), int(le.Uint16(rest[16:]))
		rest = rest[18:]
		if offset != uint64(end) || length > uint64(start-end) || pad(int64(length), blockAlign) > start-end {
			return corrupt("block %d of %d has offset %d and length %d, wanted offset %d and an end before %d",
				i+1, count, offset, length, end, start)
		}
		end += pad(int64(length), blockAlign)
		pieces := int((end - int64(offset) + pieceSize - 1) / pieceSize)
		if len(rest) < nameLen || (len(rest)-nameLen)/4 < pieces {
			return corrupt("it breaks off in block %d of %d", i+1, count)
		}
		b := blockEntry{name: string(rest[:nameLen]), offset: int64(offset), length: int64(length), pieces: make([]uint32, pieces)}
		rest = rest[nameLen:]
		for p := range b.pieces {
			b.pieces[p] = le.Uint32(rest)
			rest = rest[4:]
		}
		blocks = append(blocks, b)
	}
	if len(rest) > 0 || end != start {
		return corrupt("%d bytes are left after %d blocks, which end at %d of %d", len(rest), count, end, start)
	}
	return blocks, crc, nil
}

// readFailure tells a file that ends too soon from one that cannot be read.
func readFailure(file string, err error) error {
	if err == io.EOF {
		return &engine.Corrupt{Object: file, Detail: "it ends too soon"}
	}
	return unavailable("reading a segment", err)
}
