package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	segmentHeaderSize  = 64 // in bytes
	segmentTrailerSize = 40 // in bytes
	blockAlign         = 64 // a block begins at a multiple of this offset, in bytes

	// pieceSize is the number of bytes of a block that share one checksum.
	pieceSize = 64 << 10
)

var (
	segmentMagic    = []byte("OGSEG\x00\x00\x00") // start of a segment file
	segmentEndMagic = []byte("OGSEGEND")          // end of a segment file
	zeroPadding     [blockAlign]byte              // padding between two blocks
)

// SegmentID is the number of a segment. Numbers are assigned in rising order when writing a
// segment begins, and are never reused.
type SegmentID uint64

// SegmentWriter writes the blocks of a segment. Only one goroutine may use it.
type SegmentWriter struct {
	ctx    context.Context // cancels the write when the context is done
	out    *bufio.Writer   // buffer before the file
	offset int64           // number of bytes written so far
	blocks []blockEntry    // descriptions of the blocks so far
	names  map[string]bool // names of the blocks added so far
}

// blockEntry is the description of a block in a footer.
type blockEntry struct {
	name   string   // name of the block
	offset int64    // offset of the first byte in the file
	length int64    // in bytes, without padding
	pieces []uint32 // checksum of each piece

	codec    byte  // how the block is compressed: codecNone and so on
	unpacked int64 // bytes before compression; equal to `length` if the block is not compressed
}

// WriteSegment creates a segment from the blocks that the function `write` adds. The segment is
// durable and immutable on return; when `write` or WriteSegment fails, no segment is created. The
// store keeps the segment until a checkpoint drops it or RemoveSegment removes it: see
// [Store.Enqueue], [Store.Checkpoint] and [Store.RemoveSegment]. A failure does not affect the log.
func (s *Store) WriteSegment(ctx context.Context, write func(w *SegmentWriter) error) (SegmentID, error) {
	id, err := s.newSegmentID(ctx)
	if err != nil {
		return 0, err
	}
	state, err := writeSegment(ctx, s.fsys, s.dir, id, write)
	if err == nil {
		// Fail if the path leads elsewhere: a record that names the segment would be read
		// there.
		err = s.checkMoved()
	}
	if err != nil {
		s.noteFull(err)
		return 0, err
	}
	s.mu.Lock()
	s.segments[id] = state
	s.mu.Unlock()
	return id, nil
}

// newSegmentID reserves and returns the id of a new segment.
func (s *Store) newSegmentID(ctx context.Context) (SegmentID, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, &engine.Unavailable{Reason: "it is closed"}
	}
	id := s.nextSegment
	s.nextSegment++
	return id, nil
}

// AddBlock appends a block. Names are unique and at most 65,535 bytes long. AddBlock does
// not retain data. The write function must return an error of AddBlock to WriteSegment.
func (w *SegmentWriter) AddBlock(name string, data []byte) error {
	return w.add(name, codecNone, int64(len(data)), data)
}

// AddStream appends a block. It calls the function `pieces`, which passes the bytes of the block to
// `put`, one part after another. The parts may have any length. For errors and limits see
// [SegmentWriter.AddBlock].
func (w *SegmentWriter) AddStream(name string, pieces func(put func(data []byte) error) error) error {
	b, err := w.begin(name)
	if err == nil {
		err = pieces(b.put)
	}
	if err != nil {
		return err
	}
	return b.end(codecNone, b.length)
}

// add writes a block, whose data are the parts. The caller has compressed the data with `codec`; `unpacked` is its size before
// compression.
func (w *SegmentWriter) add(name string, codec byte, unpacked int64, parts ...[]byte) error {
	b, err := w.begin(name)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := b.put(part); err != nil {
			return err
		}
	}
	return b.end(codec, unpacked)
}

// newBlock is a block that is being written.
type newBlock struct {
	blockEntry
	w   *SegmentWriter
	crc uint32 // checksum of the bytes since the last whole piece
}

// begin starts a block.
func (w *SegmentWriter) begin(name string) (*newBlock, error) {
	switch {
	case w.names[name]:
		return nil, &engine.Conflict{Reason: fmt.Sprintf("the segment already has a block %q", name)}
	case len(name) > math.MaxUint16:
		return nil, &engine.TooLarge{Resource: "bytes of a block's name", Limit: math.MaxUint16, Actual: int64(len(name))}
	}
	w.names[name] = true
	return &newBlock{blockEntry: blockEntry{name: name, offset: w.offset}, w: w}, nil
}

// put writes the next bytes of the block.
func (b *newBlock) put(data []byte) error {
	for len(data) > 0 {
		if err := b.w.ctx.Err(); err != nil {
			return err
		}
		piece := data[:min(len(data), pieceSize-int(b.length%pieceSize))]
		data = data[len(piece):]
		b.crc = updateChecksum(b.crc, piece)
		if err := b.w.write(piece); err != nil {
			return err
		}
		if b.length += int64(len(piece)); b.length%pieceSize == 0 {
			b.pieces, b.crc = append(b.pieces, b.crc), 0
		}
	}
	return nil
}

// end writes the padding and enters the block in the segment's list of blocks.
func (b *newBlock) end(codec byte, unpacked int64) error {
	if b.length%pieceSize > 0 {
		// The size of a piece is a multiple of the alignment, so the padding fits into the last
		// piece.
		padding := zeroPadding[:pad(b.length, blockAlign)-b.length]
		if err := b.w.write(padding); err != nil {
			return err
		}
		b.pieces = append(b.pieces, updateChecksum(b.crc, padding))
	}
	b.codec, b.unpacked = codec, unpacked
	b.w.blocks = append(b.w.blocks, b.blockEntry)
	return nil
}

// write writes data and counts its bytes.
func (w *SegmentWriter) write(data []byte) error {
	n, err := w.out.Write(data)
	w.offset += int64(n)
	return err
}

// writeSegment writes the file of segment `id` in a directory and syncs it; `write` adds its blocks.
func writeSegment(ctx context.Context, fsys fs.FS, dir string, id SegmentID, write func(w *SegmentWriter) error) (_ *segmentState, err error) {
	name := filename(dir, uint64(id), segmentExt)
	temp := name + tempExt
	doing := fmt.Sprintf("writing segment %d", id)
	f, err := createTemp(fsys, temp)
	if err != nil {
		return nil, unavailable(doing, err)
	}
	open, made := true, false
	defer func() {
		if open {
			f.Close()
		}
		if !made {
			// If the removal fails, the next Open removes the file.
			_ = fsys.Remove(temp)
		}
	}()
	size, crc, err := fillSegment(ctx, f, id, doing, write)
	if err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, unavailable(doing, err)
	}
	open = false
	if err := f.Close(); err != nil {
		return nil, unavailable(doing, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := fsys.Rename(temp, name); err != nil {
		return nil, unavailable(doing, err)
	}
	made = true
	if err := fsys.SyncDir(dir); err != nil {
		return nil, errors.Join(unavailable(doing, err), removeIfThere(fsys, name))
	}
	return &segmentState{known: true, size: size, crc: crc}, nil
}

// fillSegment writes a segment to an empty file: the header, the blocks that the function `write`
// adds, and the footer. It returns the size of the file and the checksum of the footer.
func fillSegment(ctx context.Context, f fs.File, id SegmentID, doing string, write func(w *SegmentWriter) error) (size int64, crc uint32, err error) {
	w := &SegmentWriter{
		ctx:   ctx,
		out:   bufio.NewWriterSize(&failingWriter{w: io.NewOffsetWriter(f, 0), operation: doing}, 256<<10),
		names: map[string]bool{},
	}
	if err := w.write(encodeSegmentHeader(id)); err != nil {
		return 0, 0, err
	}
	if err := write(w); err != nil {
		return 0, 0, err
	}
	footer, crc := encodeFooter(w.blocks, w.offset)
	if err := w.write(footer); err != nil {
		return 0, 0, err
	}
	return w.offset, crc, w.out.Flush()
}

// encodeSegmentHeader returns the bytes with which the file of segment `id` begins.
func encodeSegmentHeader(id SegmentID) []byte {
	h := make([]byte, 0, segmentHeaderSize)
	h = append(h, segmentMagic...)
	h = le.AppendUint32(h, format.Current)
	h = le.AppendUint32(h, 0)
	h = le.AppendUint64(h, uint64(id))
	h = h[:segmentHeaderSize-4]
	return le.AppendUint32(h, checksum(h))
}

// encodeFooter returns a footer that starts at offset, and the footer's checksum.
func encodeFooter(blocks []blockEntry, offset int64) ([]byte, uint32) {
	var buf []byte
	for _, b := range blocks {
		buf = le.AppendUint64(buf, uint64(b.offset))
		buf = le.AppendUint64(buf, uint64(b.length))
		buf = le.AppendUint16(buf, uint16(len(b.name)))
		buf = append(buf, b.name...)
		buf = append(buf, b.codec)
		buf = le.AppendUint64(buf, uint64(b.unpacked))
		for _, crc := range b.pieces {
			buf = le.AppendUint32(buf, crc)
		}
	}
	size := offset + int64(len(buf)) + segmentTrailerSize
	buf = le.AppendUint64(buf, uint64(offset))
	buf = le.AppendUint64(buf, uint64(size))
	buf = le.AppendUint32(buf, uint32(len(blocks)))
	buf = le.AppendUint32(buf, format.Current)
	buf = le.AppendUint32(buf, 0)
	crc := checksum(buf)
	buf = le.AppendUint32(buf, crc)
	return append(buf, segmentEndMagic...), crc
}

// failingWriter adds the name of the current action to the error of a failed write.
type failingWriter struct {
	w         io.Writer
	operation string // the action, such as "writing segment 7"
}

// Write implements io.Writer.
func (f *failingWriter) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		err = unavailable(f.operation, err)
	}
	return n, err
}
