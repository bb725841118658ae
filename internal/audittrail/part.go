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

	"github.com/klauspost/compress/zstd"
)

// magic begins each part. Its last byte is the version of the format.
const magic = "OGAUDIT\x01"

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

// The coders of blocks. Both are safe for concurrent use.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBlock))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// maxBlock is the maximum number of bytes of the frames of a block. A damaged part cannot make a reader take more.
const maxBlock = 64 << 20

// encodePart returns the bytes of a part that consists of frames. Before its first record the chain has the hash `before`, and after its last
// one the hash `head`:
//
//	magic           8 bytes
//	size            4 bytes: of the header
//	header          first and count as uvarints; the hash before the first record and that of the last one, 32 bytes each; the number of blocks;
//	                and for each its size, its raw size, its first time and its last time as uvarints, and its keys with their length
//	blocks          one after the other, the frames of records; compressed with zstd unless the two sizes are equal
//
// In a frame, the record has its length before it and its link after it.
func encodePart(first uint64, before, head Hash, frames []byte, compressed bool) ([]byte, error) {
	h := header{first: first, before: before, head: head}
	if !compressed {
		b := block{size: len(frames), raw: len(frames)}
		for rest := frames; len(rest) > 0; h.count++ {
			record, _, after, err := frame(rest)
			if err != nil {
				return nil, err
			}
			if b.last = timeOf(record); h.count == 0 {
				b.first = b.last
			}
			rest = after
		}
		if h.blocks = append(h.blocks, b); len(frames) > maxBlock {
			return nil, fmt.Errorf("a part of %d bytes is larger than %d", len(frames), maxBlock)
		}
		return append(h.append(make([]byte, 0, len(frames)+firstRead)), frames...), nil
	}
	body := make([]byte, 0, len(frames)/2)
	var keys, memory []uint64
	for len(frames) > 0 {
		b, rest := block{}, frames
		keys = keys[:0]
		for len(rest) > 0 && len(frames)-len(rest) < blockSize {
			record, _, after, err := frame(rest)
			if err != nil {
				return nil, err
			}
			if keys, err = keysOf(record, keys); err != nil {
				return nil, err
			}
			if b.last = timeOf(record); len(rest) == len(frames) {
				b.first = b.last
			}
			rest = after
			h.count++
		}
		raw := frames[:len(frames)-len(rest)]
		start := len(body)
		if body = encoder().EncodeAll(raw, body); len(body)-start >= len(raw) {
			body = append(body[:start], raw...)
		}
		b.size, b.raw = len(body)-start, len(raw)
		b.keys, memory = newBloom(keys, memory)
		h.blocks = append(h.blocks, b)
		frames = rest
	}
	return append(h.append(nil), body...), nil
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
	b = append(b, magic...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// prefixSize is the number of bytes of a part before its header.
const prefixSize = len(magic) + 4

// headerSize returns the number of bytes of a part before its blocks. It reads the first bytes of the part.
func headerSize(b []byte) (int, error) {
	if len(b) < prefixSize || string(b[:len(magic)]) != magic {
		return 0, errors.New("it is not a part of an audit trail of this version")
	}
	return prefixSize + int(binary.LittleEndian.Uint32(b[len(magic):])), nil
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
		x.keys = bloom(d.bytes())
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
	frames, err := decoder().DecodeAll(data, make([]byte, 0, b.raw))
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
	again, err := encodePart(h.first, h.before, h.head, frames, merged)
	if err != nil {
		return false
	}
	made, err := decodeHeader(again)
	return err == nil && made.count == h.count && slices.EqualFunc(made.blocks, h.blocks, func(x, y block) bool {
		return x.raw == y.raw && x.first == y.first && x.last == y.last && bytes.Equal(x.keys, y.keys) // another compressor may make another size
	})
}
