package column

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Stored data is mapped files. A process may copy a part of it to other memory, in a form that
// single lookups read faster. All copies together take at most copiesMost bytes, and at most this
// share of the memory limit of the Go runtime, to which they do not count.
const (
	copiesMost  = 256 << 20 // see above
	copiesShare = 16        // the share is one divided by copiesShare
)

// copied is the size of all copies, in bytes.
var copied atomic.Int64

// copiesLimit returns the maximum size of all copies, in bytes.
var copiesLimit = sync.OnceValue(func() int64 { return min(copiesMost, debug.SetMemoryLimit(-1)/copiesShare) })

// Memory is memory for copies of stored data. It counts to the limit of all copies until it is
// unreachable.
type Memory struct{ pages *fs.LargePages }

// NewMemory returns n zeroed bytes. It returns nil if the limit or the operating system refuses them.
func NewMemory(n int) *Memory {
	if copied.Load()+int64(n) > copiesLimit() {
		return nil
	}
	pages := fs.NewLargePages(n)
	if pages == nil {
		return nil
	}
	copied.Add(int64(pages.Size()))
	m := &Memory{pages}
	runtime.AddCleanup(m, func(n int) { copied.Add(int64(-n)) }, pages.Size())
	return m
}

// Bytes returns the memory. The caller must not use it once the Memory is unreachable.
func (m *Memory) Bytes() []byte { return m.pages.Bytes() }

// Room returns the number of bytes that [Copy] takes for an array.
func Room[T Fixed](array []T) int { return (len(Bytes(array)) + cacheLine - 1) / cacheLine * cacheLine }

// Copy copies an array to the start of the memory `to`. It returns the copy, and the memory after it.
func Copy[T Fixed](to []byte, array []T) (made []T, rest []byte) {
	n := copy(to, Bytes(array))
	made, _ = Array[T](to[:n:n], len(array))
	return made, to[Room(array):]
}
