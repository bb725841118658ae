package audittrail

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// magic begins each part. The byte after it is the version of the format: in version 1, blocks were compressed with zstd. S2 takes a fifth of its
// time, which was half of that of a record with 100 ids, and up to 2.5 times its room.
const (
	magic       = "OGAUDIT"
	versionZstd = 1
	versionS2   = 2
)

// Hash is the hash of a record in its chain.
type Hash [sha256.Size]byte

// linkSize is the number of bytes of a hash that are stored with its record.
const linkSize = 8

// appendFrame appends a record to the frames of a part, with its link, and sets h to its hash.
func appendFrame(b, record []byte, h *Hash) []byte {
	b = appendText(b, record)
	*h = next(h, record)
	return append(b, h[:linkSize]...)
}

// next returns the hash of the record after the one with the hash h.
func next(h *Hash, record []byte) Hash {
	s := sha256.New()
	s.Write(h[:])
	s.Write(record)
	var sum Hash
	s.Sum(sum[:0])
	return sum
}

// frame reads the first frame of a block, and returns the rest of the block.
func frame(b []byte) (record, link, rest []byte, err error) {
	r := reader{b: b}
	record = r.bytes()
	link = r.take(linkSize)
	if r.failed {
		return nil, nil, nil, errRecord
	}
	return record, link, r.b, nil
}

// block describes a block: records that follow each other in a part, and are compressed together.
type block struct {
	size, raw   int    // bytes in the part, and as frames; a block that is not compressed has the same
	first, last uint64 // the time of its first and of its last record, in Unix microseconds
	keys        bloom  // of its records; see [keysOf]. A .log has none, because its records are read anyway
	zstd        bool   // it is compressed with zstd
}

// header is what a part says about its blocks, in front of them.
type header struct {
	first, count uint64 // the number of the first record, and the number of records
	before, head Hash   // before the first record, and of the last one
	blocks       []block
	size         int // bytes before the first block
}

// blockSize is the number of bytes of frames after which a block of a .seg ends. A .log has one block.
const blockSize = 64 << 10

// decoder decodes blocks of the first version. It is safe for concurrent use.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		panic(err) // the options are constant
	}
	return d
})

// maxBlock is the maximum number of bytes of the frames of a block. A damaged part cannot make a reader take more.
const maxBlock = 64 << 20

// encodePart returns the bytes of a part that consists of frames, in one or several runs that follow each other. Before its first record the
// chain has the hash `before`, and after its last one the hash `head`:
//
//	magic           7 bytes, and 1 byte: the version
//	size            4 bytes: of the header
//	header          first and count as uvarints; the hash before the first record and that of the last one, 32 bytes each; the number of blocks;
//	                and for each its size, its raw size, its first time and its last time as uvarints, and its keys with their length
//	blocks          one after the other, the frames of records; compressed with S2 unless the two sizes are equal
//
// In a frame, the record has its length before it and its link after it.
func encodePart(first uint64, before, head Hash, compressed bool, runs ...[]byte) ([]byte, error) {
	h := header{first: first, before: before, head: head}
	size := 0
	for _, run := range runs {
		size += len(run)
	}
	if !compressed {
		b := block{size: size, raw: size}
		for _, run := range runs {
			for rest := run; len(rest) > 0; h.count++ {
				record, _, after, err := frame(rest)
				if err != nil {
					return nil, err
				}
				if b.last = timeOf(record); h.count == 0 {
					b.first = b.last
				}
				rest = after
			}
		}
		if h.blocks = append(h.blocks, b); size > maxBlock {
			return nil, fmt.Errorf("a part of %d bytes is larger than %d", size, maxBlock)
		}
		part := h.append(make([]byte, 0, size+firstRead))
		for _, run := range runs {
			part = append(part, run...)
		}
		return part, nil
	}
	room := size/8 + firstRead // for the header, whose keys take a tenth of records with many ids
	e := blockEncoder{header: &h, body: make([]byte, room, room+size/8*5+s2.MaxEncodedLen(2*blockSize))}
	for _, run := range runs {
		if err := e.add(run); err != nil {
			return nil, err
		}
	}
	e.end(nil)
	text := h.append(nil)
	if len(text) > room {
		return append(text, e.body[room:]...), nil
	}
	part := e.body[room-len(text):]
	copy(part, text)
	return part, nil
}

// blockEncoder makes the compressed blocks of a part. Where a block ends depends on the frames alone, not on their runs.
type blockEncoder struct {
	*header
	body  []byte // room for the header, and the blocks that are complete
	block block  // the one that is not
	begun []byte // its frames in earlier runs
	keys  []uint64

	memory []uint64 // for newBloom
}

// add adds a run of frames.
func (e *blockEncoder) add(run []byte) error {
	start, rest := run, run // start is where the block begins in the run
	for len(rest) > 0 {
		record, _, after, err := frame(rest)
		if err != nil {
			return err
		}
		empty := len(e.begun) == 0 && len(rest) == len(start)
		if e.keys, err = keysOf(record, e.keys); err != nil {
			return err
		}
		if e.block.last = timeOf(record); empty {
			e.block.first = e.block.last
		}
		rest = after
		e.count++
		if n := len(start) - len(rest); len(e.begun)+n >= blockSize {
			e.end(start[:n])
			start = rest
		}
	}
	e.begun = append(e.begun, start...)
	return nil
}

// end completes the block with its last frames.
func (e *blockEncoder) end(frames []byte) {
	if len(e.begun) > 0 {
		e.begun = append(e.begun, frames...)
		frames = e.begun
	}
	if len(frames) == 0 {
		return
	}
	b, start := e.block, len(e.body)
	e.body = slices.Grow(e.body, s2.MaxEncodedLen(len(frames)))
	packed := s2.Encode(e.body[start:cap(e.body)], frames)
	if len(packed) >= len(frames) {
		packed = frames
	}
	e.body = append(e.body, packed...) // which are there already, if they are packed
	b.size, b.raw = len(e.body)-start, len(frames)
	b.keys, e.memory = newBloom(e.keys, e.memory)
	e.blocks = append(e.blocks, b)
	e.block, e.begun, e.keys = block{}, e.begun[:0], e.keys[:0]
}

// append appends the bytes of a part before its blocks.
func (h *header) append(b []byte) []byte {
	text := binary.AppendUvarint(binary.AppendUvarint(nil, h.first), h.count)
	text = append(append(text, h.before[:]...), h.head[:]...)
	text = binary.AppendUvarint(text, uint64(len(h.blocks)))
	for i := range h.blocks {
		x := &h.blocks[i]
		for _, v := range [...]uint64{uint64(x.size), uint64(x.raw), x.first, x.last} {
			text = binary.AppendUvarint(text, v)
		}
		text = appendText(text, []byte(x.keys))
	}
	b = append(append(b, magic...), versionS2)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// prefixSize is the number of bytes of a part before its header.
const prefixSize = len(magic) + 1 + 4

// headerSize returns the number of bytes of a part before its blocks. It reads the first bytes of the part.
func headerSize(b []byte) (int, error) {
	if len(b) < prefixSize || string(b[:len(magic)]) != magic || b[len(magic)] < versionZstd || b[len(magic)] > versionS2 {
		return 0, errors.New("it is not a part of an audit trail of this version")
	}
	return prefixSize + int(binary.LittleEndian.Uint32(b[len(magic)+1:])), nil
}

// errHeader is the fault of a header that cannot be read.
var errHeader = errors.New("the header of the part is damaged")

// decodeHeader reads the bytes of a part before its blocks.
func decodeHeader(b []byte) (*header, error) {
	size, err := headerSize(b)
	if err != nil {
		return nil, err
	}
	if size > len(b) {
		return nil, errHeader
	}
	d := reader{b: b[prefixSize:size]}
	h := &header{first: d.number(), count: d.number(), size: size}
	copy(h.before[:], d.take(uint64(len(h.before))))
	copy(h.head[:], d.take(uint64(len(h.head))))
	n := d.number()
	if n > uint64(len(d.b)) {
		return nil, errHeader
	}
	h.blocks = make([]block, n)
	for i := range h.blocks {
		x := &h.blocks[i]
		size, raw := d.number(), d.number()
		if size > maxBlock || raw > maxBlock {
			return nil, errHeader
		}
		x.size, x.raw, x.first, x.last = int(size), int(raw), d.number(), d.number()
		x.keys, x.zstd = bloom(d.bytes()), b[len(magic)] == versionZstd
	}
	if d.failed || len(d.b) > 0 {
		return nil, errHeader
	}
	return h, nil
}

// frames returns the frames of a block, whose bytes are given.
func (b *block) frames(data []byte) ([]byte, error) {
	if len(data) != b.size {
		return nil, errors.New("the part ends within a block")
	}
	if b.size == b.raw {
		return data, nil
	}
	var frames []byte
	var err error
	if b.zstd {
		frames, err = decoder().DecodeAll(data, make([]byte, 0, b.raw))
	} else if n, fault := s2.DecodedLen(data); fault != nil || n == b.raw {
		frames, err = s2.Decode(make([]byte, 0, b.raw), data)
	}
	if err == nil && len(frames) != b.raw {
		err = errors.New("a block of the part has another size than its header says")
	}
	return frames, err
}

// framesOf returns all frames of a whole part, and its header.
func framesOf(part []byte) (*header, []byte, error) {
	h, err := decodeHeader(part)
	if err != nil {
		return nil, nil, err
	}
	var frames []byte
	at := h.size
	for i := range h.blocks {
		b := &h.blocks[i]
		f, err := b.frames(part[min(at, len(part)):min(at+b.size, len(part))])
		if err != nil {
			return nil, nil, err
		}
		if at += b.size; frames == nil {
			frames = f[:len(f):len(f)] // most parts have one block
		} else {
			frames = append(frames, f...)
		}
	}
	if at != len(part) {
		return nil, nil, errors.New("bytes follow the last block of the part")
	}
	return h, frames, nil
}

// partName is the name of a part, apart from its server.
type partName struct {
	first, last uint64 // numbers of its records
	time        int64  // of its last record, in Unix microseconds
	merged      bool   // it is a .seg
	size        int64  // of the object, in bytes
	damaged     bool   // its writer could not read it
}

// The ends of the names of parts.
const (
	logSuffix = ".log"
	segSuffix = ".seg"
)

// String returns the name, whose order is that of the numbers of records.
func (p partName) String() string {
	suffix := logSuffix
	if p.merged {
		suffix = segSuffix
	}
	return fmt.Sprintf("%016d-%016d-%016d%s", p.first, p.last, p.time, suffix)
}

// parsePart returns the part with a name, without its size.
func parsePart(name string) (p partName, ok bool) {
	text, merged := strings.CutSuffix(name, segSuffix)
	if !merged {
		text, ok = strings.CutSuffix(name, logSuffix)
	}
	fields := strings.Split(text, "-")
	if !merged && !ok || len(fields) != 3 {
		return p, false
	}
	first, err1 := strconv.ParseUint(fields[0], 10, 63)
	last, err2 := strconv.ParseUint(fields[1], 10, 63)
	at, err3 := strconv.ParseInt(fields[2], 10, 63)
	p = partName{first: first, last: last, time: at, merged: merged}
	return p, err1 == nil && err2 == nil && err3 == nil && first >= 1 && first <= last && p.String() == name
}

// finds reports whether the header of a part has the times and the keys of its records, so that queries find each of them.
func (h *header) finds(frames []byte, merged bool) bool {
	again, err := encodePart(h.first, h.before, h.head, merged, frames)
	if err != nil {
		return false
	}
	made, err := decodeHeader(again)
	return err == nil && made.count == h.count && slices.EqualFunc(made.blocks, h.blocks, func(x, y block) bool {
		return x.raw == y.raw && x.first == y.first && x.last == y.last && bytes.Equal(x.keys, y.keys) // another compressor may make another size
	})
}
