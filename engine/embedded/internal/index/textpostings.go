package index

import (
	"encoding/binary"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// blob is a block of a text index, either in memory or in a stored segment.
type blob struct {
	name   string
	size   int
	memory []byte        // all bytes; nil if the block is read through pieces
	pieces column.Pieces // of the stored block
	file   string        // of the segment, for faults
}

func inMemory(name string, data []byte) blob { return blob{name: name, size: len(data), memory: data} }

func (b *blob) fail(format string, args ...any) {
	corruption.Corrupt(b.file, "index of texts, block "+b.name+": "+format, args...)
}

// slice returns the bytes from offset from up to, but not including, offset to. It throws faults.
func (b *blob) slice(from, to uint64) []byte {
	if from > to || to > uint64(b.size) {
		b.fail("bytes %d to %d are outside of its %d bytes", from, to, b.size)
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

// windowBytes is the size of a window: the number of bytes that are verified together.
const windowBytes = 1 << 16

// window caches a part of a blob for reads that are near each other. The zero window is empty.
type window struct {
	from int
	data []byte
}

// at returns n bytes of a blob from offset i. The window must always be used with the same blob.
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

// blockSize is the number of postings in a block; the last block of a term may have fewer.
const blockSize = 128

// headBytes is the size of a block's head.
const headBytes = 12

// readAhead is the number of bytes that must follow packed numbers, because unpack reads 8 bytes at a time.
const readAhead = 8

// postings are the postings of a term in an index: the documents that contain it.
type postings struct {
	n     uint32 // number of postings
	heads []byte // of the blocks
	data  uint64 // where the blocks start in the block of postings
}

// blocks returns the number of blocks.
func (p *postings) blocks() int { return len(p.heads) / headBytes }

// last returns the last document of block b.
func (p *postings) last(b int) uint32 { return binary.LittleEndian.Uint32(p.heads[b*headBytes:]) }

// first returns a lower bound for the documents of block b: the one after the block before it.
func (p *postings) first(b int) uint32 {
	if b == 0 {
		return 0
	}
	return p.last(b-1) + 1
}

// peak returns the greatest impact in block b.
func (p *postings) peak(b int) uint8 { return p.heads[b*headBytes+8] }

// block is one block of postings, read in place.
type block struct {
	first, last uint32
	n           int
	docBits     uint
	freqBits    uint
	impacts     []byte // by posting; see impactOf
	docs        []byte // by posting: the document less first, in docBits bits
	freqs       []byte // by posting: occurrences less one, in freqBits bits
	of          *blob
}

// read reads block b of the postings of a term.
func (x *Text) read(p *postings, b int, to *block) {
	head := p.heads[b*headBytes : b*headBytes+headBytes]
	start := uint64(0)
	if b > 0 {
		start = uint64(binary.LittleEndian.Uint32(p.heads[b*headBytes-8:]))
	}
	end := uint64(binary.LittleEndian.Uint32(head[4:]))
	n := min(blockSize, int(p.n)-b*blockSize)
	to.first, to.last, to.n = p.first(b), binary.LittleEndian.Uint32(head), n
	to.docBits, to.freqBits, to.of = uint(head[9]), uint(head[10]), &x.postings
	docs := n + packedBytes(n, to.docBits)
	size := docs + packedBytes(n, to.freqBits)
	switch {
	case to.docBits > 32 || to.freqBits > 32 || end-start != uint64(size):
		x.postings.fail("the block at %d of %d postings with %d and %d bits has %d bytes", p.data+start, n, to.docBits, to.freqBits, end-start)
	case to.last < to.first || to.last >= x.docs || b > 0 && to.first == 0:
		x.postings.fail("the block at %d has documents %d to %d of %d", p.data+start, to.first, to.last, x.docs)
	}
	data := x.postings.slice(p.data+start, p.data+end+readAhead)
	to.impacts, to.docs, to.freqs = data[:n:n], data[n:], data[docs:]
}

// doc returns the document of posting i.
func (k *block) doc(i int) uint32 {
	d := k.first + unpack(k.docs, i, k.docBits)
	if d > k.last || d < k.first {
		k.of.fail("a block of documents %d to %d has document %d", k.first, k.last, d)
	}
	return d
}

// freq returns the number of occurrences of posting i.
func (k *block) freq(i int) uint32 { return 1 + unpack(k.freqs, i, k.freqBits) }

// seek returns the first posting whose document is d or greater; d must not be less than first.
func (k *block) seek(d uint32) int {
	want := d - k.first
	lo, hi := 0, k.n
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); unpack(k.docs, mid, k.docBits) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// packedBytes returns the size of n numbers of width bits.
func packedBytes(n int, width uint) int { return (n*int(width) + 7) / 8 }

// unpack returns number i of packed numbers of width bits. 8 bytes must follow the numbers.
func unpack(b []byte, i int, width uint) uint32 {
	at := uint(i) * width
	return uint32(binary.LittleEndian.Uint64(b[at/8:]) >> (at % 8) & (1<<width - 1))
}

// pack appends numbers of width bits.
func pack(dst []byte, numbers []uint32, width uint) []byte {
	var word uint64
	have := uint(0)
	for _, n := range numbers {
		word |= uint64(n) << have
		for have += width; have >= 8; have -= 8 {
			dst = append(dst, byte(word))
			word >>= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(word))
	}
	return dst
}

// groupTerms is the number of terms in a group of the dictionary.
const groupTerms = 16

// groupBytes is the size of a group's entry: where its terms start in the block of terms, and where
// the postings of its first term start in the block of postings.
const groupBytes = 16

// termEntry is an entry of the dictionary.
type termEntry struct {
	text  []byte // aliases the dictionary
	n     uint32 // number of postings
	start uint64 // of its postings, in the block of postings
	bytes uint64 // of its postings
}

// termReader reads the dictionary in order.
type termReader struct {
	x     *Text
	term  int    // the next one
	data  []byte // the rest of its group
	start uint64 // of its postings
}

// group moves to the first term of group g.
func (r *termReader) group(g int) {
	x := r.x
	entry := x.groups.slice(uint64(g)*groupBytes, uint64(g+1)*groupBytes)
	from, to := binary.LittleEndian.Uint64(entry), uint64(x.dictionary.size)
	r.start = binary.LittleEndian.Uint64(entry[8:])
	if (g+1)*groupTerms < x.terms {
		to = binary.LittleEndian.Uint64(x.groups.slice(uint64(g+1)*groupBytes, uint64(g+1)*groupBytes+8))
	}
	r.data, r.term = x.dictionary.slice(from, to), g*groupTerms
}

// next reads the next entry; ok is false at the end.
func (r *termReader) next(e *termEntry) (ok bool) {
	if r.term == r.x.terms {
		return false
	}
	if r.term%groupTerms == 0 {
		r.group(r.term / groupTerms)
	}
	length := r.number()
	if length > uint64(len(r.data)) {
		r.x.dictionary.fail("term %d is cut short", r.term)
	}
	e.text, r.data = r.data[:length:length], r.data[length:]
	n := r.number()
	e.bytes = r.number()
	e.n, e.start = uint32(n), r.start
	if n == 0 || n > uint64(r.x.docs) || e.bytes < (n+blockSize-1)/blockSize*headBytes {
		r.x.dictionary.fail("term %d has %d postings of %d documents in %d bytes", r.term, n, r.x.docs, e.bytes)
	}
	r.start += e.bytes
	r.term++
	return true
}

func (r *termReader) number() uint64 {
	n, k := binary.Uvarint(r.data)
	if k <= 0 {
		r.x.dictionary.fail("term %d is cut short", r.term)
	}
	r.data = r.data[k:]
	return n
}

// postingsOf returns the postings of an entry of the dictionary.
func (x *Text) postingsOf(e *termEntry) postings {
	heads := e.start + (uint64(e.n)+blockSize-1)/blockSize*headBytes
	return postings{n: e.n, heads: x.postings.slice(e.start, heads), data: heads}
}

// find finds a term. It reads only a few groups of the dictionary.
func (x *Text) find(term string) (p postings, ok bool) {
	r := termReader{x: x}
	var e termEntry
	lo, hi := 0, (x.terms+groupTerms-1)/groupTerms // the term is in group lo-1 or in none
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if r.group(mid); !r.next(&e) || string(e.text) > term {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 {
		return postings{}, false
	}
	r.group(lo - 1)
	for range groupTerms {
		if !r.next(&e) || string(e.text) > term {
			break
		}
		if string(e.text) == term {
			return x.postingsOf(&e), true
		}
	}
	return postings{}, false
}

// each calls f with the document and the occurrences of each posting, in order of documents.
func (x *Text) each(p *postings, f func(d, freq uint32)) {
	var k block
	for b := range p.blocks() {
		x.read(p, b, &k)
		least := k.first
		for i := range k.n {
			d := k.doc(i)
			if d < least {
				x.postings.fail("document %d is out of order", d)
			}
			least = d + 1
			f(d, k.freq(i))
		}
	}
}

// str returns the text of an entry without copying it. It is valid as long as the index.
func (e *termEntry) str() string { return unsafe.String(unsafe.SliceData(e.text), len(e.text)) }
