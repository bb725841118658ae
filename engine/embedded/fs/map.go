package fs

import (
	"runtime"
	"sync"
	"unsafe"
)

// Mapping is the content of a whole file, for reading. The memory is given back when
// nothing refers to the Mapping any more, whatever has become of the file: a slice of
// Bytes does not count as a reference. Only the file's truncation makes a mapping
// unreadable; see [MappedFile].
type Mapping struct{ data []byte }

// Bytes returns the content, at an address that is a multiple of 64. It must not be
// changed, and not be used once the Mapping is out of reach.
func (m *Mapping) Bytes() []byte { return m.data }

// MappedFile returns the file of which a live mapping has an address, and the offset in
// it: what a fault at that address says.
func MappedFile(addr uintptr) (name string, offset int64, ok bool) {
	mapped.Lock()
	defer mapped.Unlock()
	for start, f := range mapped.files {
		if addr >= start && addr-start < f.size {
			return f.name, int64(addr - start), true
		}
	}
	return "", 0, false
}

// mapped lists the mappings that the operating system made, by address.
var mapped = struct {
	sync.Mutex
	files map[uintptr]mappedFile
}{files: map[uintptr]mappedFile{}}

type mappedFile struct {
	name string
	size uintptr
}

// newMapping takes over memory that release gives back.
func newMapping(name string, data []byte, release func([]byte)) *Mapping {
	m := &Mapping{data: data}
	if len(data) == 0 {
		return m
	}
	start := uintptr(unsafe.Pointer(&data[0]))
	mapped.Lock()
	mapped.files[start] = mappedFile{name, uintptr(len(data))}
	mapped.Unlock()
	runtime.AddCleanup(m, func(data []byte) {
		mapped.Lock()
		delete(mapped.files, start)
		mapped.Unlock()
		release(data)
	}, data)
	return m
}

// aligned returns zeroed memory at a multiple of 64.
func aligned(n int) []byte {
	const line = 64
	b := make([]byte, n+line)
	if off := int(uintptr(unsafe.Pointer(&b[0])) % line); off > 0 {
		b = b[line-off:]
	}
	return b[:n:n]
}
