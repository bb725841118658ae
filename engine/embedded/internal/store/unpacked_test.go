package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/fs"
)

// packedSegment returns a segment with a block of n chunks that is compressed, and the content of the block.
func packedSegment(t *testing.T, n int) (*Segment, []byte) {
	t.Helper()
	var data []byte
	for len(data) < n*chunkSize {
		data = fmt.Appendf(data, "line %d, and some text that repeats\n", len(data))
	}
	data = data[:n*chunkSize]
	s := create(t, fs.NewMem(), "/g", tiny)
	t.Cleanup(func() { s.Close() })
	id, err := s.WriteSegment(t.Context(), func(w *SegmentWriter) error { return w.AddCold("text", data, false) })
	must(t, err)
	seg, err := s.OpenSegment(t.Context(), id)
	must(t, err)
	return seg, data
}

// inMemory returns the numbers of the chunks of a block that are held.
func inMemory(b *block) (held []int) {
	for i := range b.chunks {
		if b.chunks[i].Load() != nil {
			held = append(held, i)
		}
	}
	return held
}

// TestChunkMemory reads more chunks than the memory for them holds.
func TestChunkMemory(t *testing.T) {
	recent.mu.Lock()
	recent.limit, recent.bytes = 4*chunkSize, 0
	recent.held.Init()
	recent.mu.Unlock()
	t.Cleanup(func() { recent.limit = 32 << 20 })
	seg, data := packedSegment(t, 32)
	p, err := seg.Pieces("text")
	must(t, err)
	read := func(i int) {
		t.Helper()
		if got, err := p.Range(i*chunkSize+5, i*chunkSize+50); err != nil || !bytes.Equal(got, data[i*chunkSize+5:][:45]) {
			t.Errorf("chunk %d: %d bytes, error %v", i, len(got), err)
		}
	}
	wantHeld := func(want ...int) {
		t.Helper()
		if got := inMemory(p.b); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("memory holds the chunks %v, want %v", got, want)
		}
	}
	for i := range 6 {
		read(i)
	}
	wantHeld(2, 3, 4, 5)
	read(2) // so that 3 is the oldest one without a use
	read(6)
	wantHeld(2, 4, 5, 6)
	read(7)
	wantHeld(2, 5, 6, 7)

	var readers sync.WaitGroup
	for n := range 8 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			for range 300 {
				read(rng.IntN(32))
			}
		})
	}
	readers.Wait()
	if held := inMemory(p.b); len(held) > 4 {
		t.Errorf("memory holds the chunks %v", held)
	}
	if whole, err := seg.Block("text"); err != nil || !bytes.Equal(whole, data) {
		t.Errorf("the whole block: %d bytes, error %v", len(whole), err)
	}
}

// TestUnpackedRoom fills the memory for whole blocks.
func TestUnpackedRoom(t *testing.T) {
	collect := func(done func() bool) {
		for wait := 0; !done() && wait < 1000; wait++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
	collect(func() bool { return unpacked.used.Load() == 0 }) // the segments of other tests
	before := unpacked.limit
	unpacked.limit = func() int64 { return 1000 * chunkSize }
	t.Cleanup(func() { unpacked.limit = before })
	room := func(seg *Segment) bool {
		return unpacked.room(seg.blocks["text"].unpacked) || seg.blocks["text"].verified.Load()
	}
	first, data := packedSegment(t, 800)
	second, _ := packedSegment(t, 400)
	small, _ := packedSegment(t, 4)
	if large, _ := packedSegment(t, 1100); room(large) || !room(first) || !room(second) {
		t.Error("there is room for 1,000 chunks")
	}
	_, err := first.Block("text")
	must(t, err)
	if room(second) || !room(first) || !room(small) {
		t.Error("800 of 1,000 chunks are used, and a small block has room in any case")
	}
	if whole, err := first.Block("text"); err != nil || !bytes.Equal(whole, data) {
		t.Errorf("%d bytes, error %v", len(whole), err)
	}
	runtime.KeepAlive(first)
	first = nil
	if collect(func() bool { return room(second) }); !room(second) {
		t.Error("a block that is not reachable still counts")
	}
}
