package fs

import (
	"runtime"
	"sync"
	"unsafe"
)

// Mapping is the content of a whole file, for reading. The memory is released when nothing
// refers to the Mapping any more; a slice of Bytes does not count as a reference. Renaming
// or removing the file does not matter. Only truncating the file makes a mapping
// unreadable; see [MappedFile].
type Mapping struct {
	data   []byte // the content of the file
	mapped bool   // data is a mapped file, and not a copy
}

// Bytes returns the content, at an address that is a multiple of 64. The caller must not
// change it, and must not use it once the Mapping is unreachable.
func (m *Mapping) Bytes() []byte { return m.data }

// Written must be called after p was written to the file at an offset, so that the mapping shows p. Nothing may read
// these bytes of the mapping meanwhile.
func (m *Mapping) Written(p []byte, offset int64) {
	if !m.mapped {
		copy(m.data[offset:], p)
	}
}

// MappedFile takes an address in a live mapping. It returns the mapped file, and the offset in that
// file. After a memory fault at an address, it identifies the file.
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

// mapped holds the mappings that the operating system made, by address. Its mutex guards
// files.
var mapped = struct {
	sync.Mutex
	files map[uintptr]mappedFile
}{files: map[uintptr]mappedFile{}}

// mappedFile describes a file that is mapped into memory.
type mappedFile struct {
	name string  // path of the file
	size uintptr // in bytes
}

// newMapping returns a Mapping that owns the memory `data`. It calls `release` once the Mapping is
// unreachable.
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

// aligned returns zeroed memory at an address that is a multiple of 64.
func aligned(n int) []byte {
	const line = 64
	b := make([]byte, n+line)
	if off := int(uintptr(unsafe.Pointer(&b[0])) % line); off > 0 {
		b = b[line-off:]
	}
	return b[:n:n]
}
