package textindex

import "encoding/binary"

// blockSize is the number of postings in a block; the last block of a term may have fewer.
const blockSize = 64

// headBytes is the size of a block's head.
const headBytes = 12

// readAhead is the number of bytes that must follow packed numbers, because unpack reads 8 bytes at a time.
const readAhead = 8

// postings identifies the postings of a term in an index, that is, the documents that contain the
// term.
type postings struct {
	n     uint32 // number of postings
	heads []byte // of the blocks
	data  uint64 // where the blocks start in the block of postings
}

// blocks returns the number of blocks.
func (p *postings) blocks() int { return len(p.heads) / headBytes }

// last returns the last document of block b.
func (p *postings) last(b int) uint32 { return binary.LittleEndian.Uint32(p.heads[b*headBytes:]) }

// first returns a lower bound of the documents of block b: the last document of the block before,
// plus one.
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
	first, last uint32 // the first and the last document
	n           int
	docBits     uint   // bits of a document in docs
	freqBits    uint   // bits of a number of occurrences in freqs
	impacts     []byte // by posting; see impactOf
	docs        []byte // by posting: the document less first, in docBits bits
	freqs       []byte // by posting: occurrences less one, in freqBits bits
	of          *blob
}

// read reads block b of the postings of a term; w caches bytes for the next blocks.
func (x *Text) read(p *postings, b int, to *block, w *window) {
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
		x.postings.fail("the block at offset %d has %d bytes, which does not fit %d postings of %d and %d bits", p.data+start, end-start, n, to.docBits, to.freqBits)
	case to.last < to.first || to.last >= x.docs || b > 0 && to.first == 0:
		x.postings.fail("the block at offset %d has the invalid range of documents %d to %d; the index has %d documents", p.data+start, to.first, to.last, x.docs)
	}
	data := w.at(&x.postings, int(p.data+start), size+readAhead)
	to.impacts, to.docs, to.freqs = data[:n:n], data[n:], data[docs:]
}

// doc returns the document of posting i.
func (k *block) doc(i int) uint32 {
	d := k.first + unpack(k.docs, i, k.docBits)
	if d > k.last || d < k.first {
		k.of.fail("a block for the documents %d to %d contains document %d", k.first, k.last, d)
	}
	return d
}

// freq returns the number of occurrences of posting i.
func (k *block) freq(i int) uint32 { return 1 + unpack(k.freqs, i, k.freqBits) }

// seek returns the position of the first posting with document d or a greater one; d must not be
// less than k.first.
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

// packedBytes returns the size of n numbers of `width` bits each.
func packedBytes(n int, width uint) int { return (n*int(width) + 7) / 8 }

// unpack returns number i of packed numbers that have `width` bits each. 8 bytes must follow the
// numbers.
func unpack(b []byte, i int, width uint) uint32 {
	at := uint(i) * width
	return uint32(binary.LittleEndian.Uint64(b[at/8:]) >> (at % 8) & (1<<width - 1))
}

// pack appends numbers to dst in packed form, with `width` bits each.
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

// each calls f with the document and the occurrences of each posting, in order of documents.
func (x *Text) each(p *postings, f func(d, freq uint32)) {
	var k block
	var w window
	for b := range p.blocks() {
		x.read(p, b, &k, &w)
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
