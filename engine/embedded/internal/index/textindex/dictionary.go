package textindex

import (
	"encoding/binary"
	"unsafe"
)

// groupTerms is the number of terms in a group of the dictionary.
const groupTerms = 16

// groupBytes is the size in bytes of the entry of a group. The entry consists of two offsets: that
// of the group's first term in the block of terms, and that of the first term's postings in the
// block of postings.
const groupBytes = 16

// termEntry is an entry of the dictionary.
type termEntry struct {
	text  []byte // aliases the dictionary
	n     uint32 // number of postings
	start uint64 // where its postings start in the block of postings
	bytes uint64 // length of its postings
}

// termReader reads the dictionary in order.
type termReader struct {
	x     *Text
	term  int    // the next one
	data  []byte // the rest of its group
	start uint64 // where its postings start
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
		r.x.dictionary.fail("the entry of term %d is truncated", r.term)
	}
	e.text, r.data = r.data[:length:length], r.data[length:]
	n := r.number()
	e.bytes = r.number()
	e.n, e.start = uint32(n), r.start
	if n == 0 || n > uint64(r.x.docs) || e.bytes < (n+blockSize-1)/blockSize*headBytes {
		r.x.dictionary.fail("term %d claims %d postings in %d bytes; the index has %d documents", r.term, n, e.bytes, r.x.docs)
	}
	r.start += e.bytes
	r.term++
	return true
}

// number reads the next number of the dictionary.
func (r *termReader) number() uint64 {
	n, k := binary.Uvarint(r.data)
	if k <= 0 {
		r.x.dictionary.fail("the entry of term %d is truncated", r.term)
	}
	r.data = r.data[k:]
	return n
}

// postingsOf returns the postings of an entry of the dictionary.
func (x *Text) postingsOf(e *termEntry) postings {
	heads := e.start + (uint64(e.n)+blockSize-1)/blockSize*headBytes
	x.postings.prefetch(e.start, e.start+e.bytes)
	return postings{n: e.n, heads: x.postings.slice(e.start, heads), data: heads}
}

// find looks a term up. It reads only a few groups of the dictionary.
func (x *Text) find(term string) (p postings, ok bool) {
	r := termReader{x: x}
	var e termEntry
	lo, hi := 0, (x.terms+groupTerms-1)/groupTerms // at the end, only group lo-1 can contain the term
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

// str returns the text of an entry without copying it. The text is valid as long as the index.
func (e *termEntry) str() string { return unsafe.String(unsafe.SliceData(e.text), len(e.text)) }
