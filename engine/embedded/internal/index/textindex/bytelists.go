package textindex

import "encoding/binary"

const (
	// pageBytes is the size in bytes of a page of [byteLists].
	pageBytes = 1 << 16
	// minSlice and maxSlice are the sizes in bytes of the first slice of a list and of the largest
	// slices. Each slice is twice as large as the one before it, up to maxSlice.
	minSlice = 8
	maxSlice = 1 << 10
	// linkBytes is the size in bytes of the link at the end of a slice.
	linkBytes = 4
)

// byteLists holds many lists of bytes that grow at their ends. The lists share pages of memory, so a
// short list takes few bytes, and a list is never copied when it grows. A list consists of slices.
// At the end of each slice but the last stands a link: the address of the next slice, divided by
// minSlice. An address is an offset into the pages, one after another; a slice lies in one page.
type byteLists struct {
	pages [][]byte
	free  int // number of free bytes at the end of the last page
}

// byteList is one list of [byteLists]. The zero byteList is empty.
type byteList struct {
	end   uint64 // address of the byte after the last one
	first uint32 // address of the first slice, divided by minSlice
	room  uint16 // number of free bytes in the last slice, without its link
	size  uint16 // size of the last slice; 0 for an empty list
}

// put appends bytes to a list.
func (b *byteLists) put(l *byteList, data []byte) {
	for _, c := range data {
		if l.room == 0 {
			b.grow(l)
		}
		b.pages[l.end/pageBytes][l.end%pageBytes] = c
		l.end++
		l.room--
	}
}

// grow appends a slice to a list.
func (b *byteLists) grow(l *byteList) {
	size := min(max(2*l.size, minSlice), maxSlice)
	if b.free < int(size) {
		b.pages, b.free = append(b.pages, make([]byte, pageBytes)), pageBytes
	}
	at := uint64(len(b.pages))*pageBytes - uint64(b.free)
	b.free -= int(size)
	if l.size == 0 {
		l.first = uint32(at / minSlice)
	} else {
		binary.LittleEndian.PutUint32(b.pages[l.end/pageBytes][l.end%pageBytes:], uint32(at/minSlice))
	}
	l.end, l.room, l.size = at, size-linkBytes, size
}

// byteReader reads a list from its start.
type byteReader struct {
	pages [][]byte
	end   uint64 // address of the end of the list
	size  int    // size of the current slice
	rest  []byte // bytes of the current slice that are not read yet, without the link
	link  []byte // link of the current slice; nil in the last slice
}

// read returns a reader of a list.
func (b *byteLists) read(l *byteList) byteReader {
	r := byteReader{pages: b.pages, end: l.end}
	if l.size > 0 {
		r.enter(l.first)
	}
	return r
}

// enter moves to a slice. The parameter is the slice's address divided by minSlice.
func (r *byteReader) enter(slice uint32) {
	at := uint64(slice) * minSlice
	r.size = min(max(2*r.size, minSlice), maxSlice)
	page := r.pages[at/pageBytes][at%pageBytes:]
	if r.end-at < uint64(r.size) {
		r.rest, r.link = page[:r.end-at], nil
	} else {
		r.rest, r.link = page[:r.size-linkBytes], page[r.size-linkBytes:]
	}
}

// more reports whether there are bytes left.
func (r *byteReader) more() bool {
	if len(r.rest) == 0 && r.link != nil {
		r.enter(binary.LittleEndian.Uint32(r.link))
	}
	return len(r.rest) > 0
}

// uvarint reads a number. REQUIRES: the list has a number at this place.
func (r *byteReader) uvarint() (n uint64) {
	for shift := 0; ; shift += 7 {
		if len(r.rest) == 0 {
			r.more()
		}
		c := r.rest[0]
		r.rest = r.rest[1:]
		if n |= uint64(c&0x7f) << shift; c < 0x80 {
			return n
		}
	}
}
