package store

import (
	"container/list"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// unpackedMemory counts the bytes of the blocks that are decompressed whole. While they are more than the limit, no
// other block is decompressed whole, unless an operation needs all of it.
type unpackedMemory struct {
	limit func() int64 // in bytes
	used  atomic.Int64 // bytes of the blocks whose mapping is reachable
}

// unpacked counts the blocks of all segments of the process. The limit is 1 GiB, or a quarter of the memory limit of
// the Go runtime if that is less.
var unpacked = &unpackedMemory{limit: sync.OnceValue(func() int64 { return min(1<<30, debug.SetMemoryLimit(-1)/4) })}

// smallBlock is the size in bytes up to which blocks are decompressed whole beyond the limit, too: they are few next
// to the large blocks that reach it, and are read more often.
const smallBlock = 4 << 20

// room reports whether a block of n bytes fits.
func (m *unpackedMemory) room(n int64) bool { return n <= smallBlock || m.used.Load()+n <= m.limit() }

// add counts n bytes of a block of a mapping, until the mapping is unreachable.
func (m *unpackedMemory) add(mapping *fs.Mapping, n int64) {
	m.used.Add(n)
	runtime.AddCleanup(mapping, func(n int64) { m.used.Add(-n) }, n)
}

// chunk is a decompressed chunk of a block. Its bytes do not change, and may be used after the chunk is dropped.
type chunk struct {
	data []byte
	used atomic.Bool // since chunkMemory looked at the chunk last
}

// use notes a use of the chunk.
func (c *chunk) use() {
	if !c.used.Load() { // most uses only read the cache line
		c.used.Store(true)
	}
}

// chunkMemory holds the decompressed chunks that were read lately. When they exceed the limit, it drops the oldest
// ones, except those that were used since it looked at them last: the CLOCK algorithm (F. J. Corbato, 1968).
type chunkMemory struct {
	limit int64 // in bytes

	mu    sync.Mutex
	bytes int64
	held  list.List // of heldChunk, the oldest first
}

// heldChunk is the place of a chunk.
type heldChunk struct {
	block weak.Pointer[block] // so that the block of a segment that is not used any more can be freed
	index int
	bytes int64
}

// recent holds the chunks of all segments of the process.
var recent = chunkMemory{limit: 32 << 20}

// keep makes data the chunk i of a block.
func (m *chunkMemory) keep(b *block, i int, data []byte) {
	if !b.chunks[i].CompareAndSwap(nil, &chunk{data: data}) {
		return // another goroutine has decompressed it, too
	}
	n := int64(len(data))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held.PushBack(heldChunk{weak.Make(b), i, n})
	for m.bytes += n; m.bytes > m.limit; {
		oldest := m.held.Front()
		at := oldest.Value.(heldChunk)
		if b := at.block.Value(); b != nil {
			if c := b.chunks[at.index].Load(); c.used.Swap(false) {
				m.held.MoveToBack(oldest)
				continue
			}
			b.chunks[at.index].Store(nil)
		}
		m.held.Remove(oldest)
		m.bytes -= at.bytes
	}
}
