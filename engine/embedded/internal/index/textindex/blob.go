package textindex

import (
	"encoding/binary"
	"math"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// blob is a block of a text index, either in memory or in a stored segment.
type blob struct {
	name   string        // name of the block
	size   int           // in bytes
	memory []byte        // all bytes; nil if the block is read through `pieces`
	pieces column.Pieces // of the stored block
	file   string        // of the segment, for faults
}

// inMemory returns a blob with the given name and bytes.
func inMemory(name string, data []byte) blob { return blob{name: name, size: len(data), memory: data} }

// fail throws an *engine.Corrupt that names the block.
func (b *blob) fail(format string, args ...any) {
	corruption.Corrupt(b.file, "index of texts, block "+b.name+": "+format, args...)
}

// slice returns the bytes [from, to). It throws the faults that it finds.
func (b *blob) slice(from, to uint64) []byte {
	if from > to || to > uint64(b.size) {
		b.fail("the range %d to %d is outside the block of %d bytes", from, to, b.size)
	}
	if b.pieces == nil {
		return b.memory[from:to:to]
	}
	data, err := b.pieces.Range(int(from), int(to))
	if err != nil {
		corruption.Throw(err)
	}
	return data
}

// maxPrefetch bounds the bytes that one call of prefetch reads, so that a long block does not push
// others out of the page cache.
const maxPrefetch = 4 << 20

// prefetch makes the kernel begin to read the bytes [from, to), but at most maxPrefetch of them, so
// that the method slice need not wait. The range must lie within the block.
func (b *blob) prefetch(from, to uint64) {
	if b.pieces != nil && from <= to && to <= uint64(b.size) {
		b.pieces.Prefetch(int(from), int(min(to, from+maxPrefetch)))
	}
}

// windowBytes is the size of a window: the number of bytes that are verified together.
const windowBytes = 1 << 16

// window caches a part of a blob for reads that are near each other. The zero window is empty.
type window struct {
	from int    // offset of the cached bytes in the blob
	data []byte // the cached bytes
}

// at returns n bytes of a blob, beginning at offset i. All calls for one window must use the same
// blob.
func (w *window) at(b *blob, i, n int) []byte {
	if o := i - w.from; o >= 0 && o+n <= len(w.data) {
		return w.data[o : o+n]
	}
	from := i &^ (windowBytes - 1)
	to := max(min(from+windowBytes, b.size), i+n)
	if b.pieces == nil {
		from, to = 0, max(b.size, i+n)
	}
	w.from, w.data = from, b.slice(uint64(from), uint64(to))
	return w.data[i-from : i-from+n]
}

// numbers contains one number for each document. The number of document d is base plus element d of
// the array, or base plus d if there is no array.
type numbers struct {
	base  uint32 // added to each element of the array
	width int    // bytes of a number in the array: 1, 2 or 4; 0 without an array
	array blob   // the elements, `width` bytes each
}

// numbersOf returns a list as numbers in the shortest form.
func numbersOf(name string, list []uint32) numbers {
	if len(list) == 0 {
		return numbers{}
	}
	run, most := true, uint32(0)
	for i, n := range list {
		run = run && n == list[0]+uint32(i)
		most = max(most, n)
	}
	if run {
		return numbers{base: list[0]}
	}
	n := numbers{width: 4}
	switch {
	case most <= math.MaxUint8:
		n.width = 1
	case most <= math.MaxUint16:
		n.width = 2
	}
	data := make([]byte, 0, n.width*len(list))
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, v)[:len(data)+n.width]
	}
	n.array = inMemory(name, data)
	return n
}

// at returns the number of document d.
func (n *numbers) at(w *window, d uint32) uint32 {
	switch n.width {
	case 1:
		return n.base + uint32(w.at(&n.array, int(d), 1)[0])
	case 2:
		return n.base + uint32(binary.LittleEndian.Uint16(w.at(&n.array, 2*int(d), 2)))
	case 4:
		return n.base + binary.LittleEndian.Uint32(w.at(&n.array, 4*int(d), 4))
	}
	return n.base + d
}
