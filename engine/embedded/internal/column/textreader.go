package column

import (
	"sort"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

const (
	// windowTexts is the number of texts whose offsets a TextReader reads at a time.
	windowTexts = 1 << 13
	// windowBytes is the number of bytes of text that a TextReader reads at a time, unless a single
	// text is longer.
	windowBytes = 256 << 10
	// maxReads is how many times a TextReader may read as many bytes as the column has. When the texts
	// are not read in order, it reads more, and then the column is read whole.
	maxReads = 3
)

// TextReader reads the texts of a column of Strings. If the column is stored and not read yet, and the
// texts are read in ascending or in descending order, the reader keeps only a few texts in memory.
// In any other order it reads the whole column. It throws the faults that it finds; see package
// corruption. Only one goroutine may use it.
type TextReader struct {
	c       *Column
	offsets Block[uint32] // by text: where it starts
	valid   Block[uint64] // by text: one bit, set if it is not null; empty if no text is null
	data    Block[byte]   // the bytes of all texts

	first, last int      // the window contains the offsets of the texts [first, last)
	buffer      []byte   // memory of the offsets
	off         []uint32 // the offsets, which alias `buffer`
	from, to    int      // `texts` contains the bytes [from, to) of all texts
	texts       []byte   // a part of the bytes of all texts
	read        int      // number of bytes read so far
	whole       bool     // the reader uses the methods of c
}

// NewTextReader returns a reader of a column of Strings.
func NewTextReader(c *Column) *TextReader {
	r := &TextReader{c: c}
	if !c.pending.Left() || c.stored.flags&flagDict != 0 || c.typ.List || c.typ.Kind.Storage() != value.InText {
		r.whole = true
		return r
	}
	src, name := c.stored.src, c.stored.name
	r.offsets = OpenBlockOf[uint32](src, name+".o", c.n+1)
	if c.stored.flags&flagValid != 0 {
		r.valid = OpenBlockOf[uint64](src, name+".v", (c.n+63)/64)
	}
	if end := int(r.offsets.At(c.n)); end > 0 {
		r.data = OpenBlockOf[byte](src, name+".d", end)
	}
	return r
}

// Size returns the length of text i in bytes; 0 if it is null.
func (r *TextReader) Size(i uint32) int {
	if r.whole {
		s, _ := r.Text(i)
		return len(s)
	}
	from, to := r.span(int(i))
	return to - from
}

// Text returns text i; ok is false if it is null. The result is valid until the next call.
func (r *TextReader) Text(i uint32) (s string, ok bool) {
	if r.whole {
		if r.c.IsNull(i) {
			return "", false
		}
		return r.c.Str(i), true
	}
	if r.valid.n > 0 && r.valid.At(int(i/64))>>(i%64)&1 == 0 {
		return "", false
	}
	from, to := r.span(int(i))
	if from == to {
		return "", true
	}
	if from < r.from || to > r.to {
		// Read as many texts of the window as fit, from text i on or up to text i.
		end := func(k int) int { return int(r.off[k]) }
		at := int(i) - r.first
		if to <= r.from {
			from := sort.Search(at, func(k int) bool { return to-end(k) <= windowBytes })
			r.from, r.to = end(from), to
		} else {
			n := sort.Search(r.last-int(i)-1, func(k int) bool { return end(at+k+2)-from > windowBytes })
			r.from, r.to = from, end(at+n+1)
		}
		r.texts = r.data.appendBytes(r.texts[:0], r.from, r.to)
		r.count(len(r.texts))
	}
	return unsafe.String(&r.texts[from-r.from], to-from), true
}

// span returns where text i begins and ends among the bytes of all texts.
func (r *TextReader) span(i int) (from, to int) {
	if before := r.first; i < before || i >= r.last {
		if r.first, r.last = i, min(i+windowTexts, r.c.n); i < before {
			r.first, r.last = max(0, i+1-windowTexts), i+1
		}
		r.buffer = r.offsets.appendBytes(r.buffer[:0], r.first, r.last+1)
		r.count(len(r.buffer))
		r.off, _ = Array[uint32](r.buffer, r.last+1-r.first)
		for k, o := range r.off {
			if k > 0 && o < r.off[k-1] || int(o) > r.data.n {
				corruption.Corrupt(r.c.stored.src.Name(), "block %q: offset %d is %d, but offsets must ascend and not exceed %d", r.c.stored.name+".o", r.first+k, o, r.data.n)
			}
		}
	}
	return int(r.off[i-r.first]), int(r.off[i-r.first+1])
}

// count counts bytes that were read. If there are too many, the next call reads the whole column.
func (r *TextReader) count(bytes int) {
	if r.read += bytes; r.read > maxReads*(windowBytes+r.data.n+4*r.c.n) {
		r.whole = true
	}
}
