package fs

import "runtime"

const (
	// largePage is the size of a large page on the common processors, in bytes.
	largePage = 2 << 20
	// leastLarge is the least number of bytes for which a large page is worth its memory.
	leastLarge = largePage / 8
)

// LargePages is memory in large pages, if the operating system has them. Finding data in large
// pages takes a processor less time, because the TLB, its cache of page addresses, covers more of
// the data. The memory is released when nothing refers to the LargePages any more; a slice of Bytes
// does not count as a reference.
type LargePages struct {
	data []byte
	size int // bytes that the memory takes, a multiple of the size of a page
}

// NewLargePages returns n zeroed bytes, at an address that is a multiple of 64. It takes few bytes
// from the heap instead. It returns nil if the operating system refuses the memory.
func NewLargePages(n int) *LargePages {
	if n < leastLarge {
		return &LargePages{aligned(n), n}
	}
	size := (n + largePage - 1) / largePage * largePage
	data, release, err := largePages(size)
	if err != nil {
		return nil
	}
	m := &LargePages{data[:n:n], size}
	if release != nil {
		runtime.AddCleanup(m, release, data)
	}
	return m
}

// Bytes returns the memory. The caller must not use it once the LargePages is unreachable.
func (m *LargePages) Bytes() []byte { return m.data }

// Size returns the number of bytes that the memory takes.
func (m *LargePages) Size() int { return m.size }
