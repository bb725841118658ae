package fs

import (
	"os"
	"runtime"
	"syscall"
)

// advise gives the kernel advice on a range of a mapping. It extends the range to begin at a page.
// Advice only changes how fast later reads are, so its errors are ignored.
func (m *Mapping) advise(from, to, advice int) {
	if m.mapped && from < to {
		from -= from % os.Getpagesize()
		_ = syscall.Madvise(m.data[from:to], advice)
		runtime.KeepAlive(m)
	}
}

// ReadRandomly tells the kernel that reads will be scattered, so that a read of one page does not read
// megabytes after it.
func (m *Mapping) ReadRandomly() { m.advise(0, len(m.data), syscall.MADV_RANDOM) }

// ReadThrough tells the kernel that a range of bytes will be read in order. The range begins at the
// offset `from` and ends before the offset `to`.
func (m *Mapping) ReadThrough(from, to int) { m.advise(from, to, syscall.MADV_NORMAL) }

// Fetch makes the kernel read a range of bytes at once, and not one page after another. The range
// begins at the offset `from` and ends before the offset `to`.
func (m *Mapping) Fetch(from, to int) { m.advise(from, to, syscall.MADV_WILLNEED) }
