package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
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
	m := &unpackedMemory{limit: func() int64 { return 10 * smallBlock }}
	fsys := fs.NewMem()
	must(t, fsys.MkdirAll("/d"))
	file, err := fsys.Create("/d/file")
	must(t, err)
	_, err = file.WriteAt([]byte("content"), 0)
	must(t, errors.Join(err, file.Close()))
	mapping, err := fsys.Map("/d/file")
	must(t, err)
	if m.room(11*smallBlock) || !m.room(10*smallBlock) {
		t.Error("there is room for 10 small blocks")
	}
	m.add(mapping, 8*smallBlock)
	if m.room(3*smallBlock) || !m.room(2*smallBlock) {
		t.Error("there is room for 2 small blocks")
	}
	if m.add(mapping, 4*smallBlock); m.room(smallBlock+1) || !m.room(smallBlock) {
		t.Error("there is room only for a small block")
	}
	runtime.KeepAlive(mapping)
	mapping = nil
	for wait := 0; !m.room(10*smallBlock) && wait < 1000; wait++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if !m.room(10 * smallBlock) {
		t.Error("a block that is not reachable still counts")
	}
}

// TestUnpackedBlock counts a block that is decompressed whole.
func TestUnpackedBlock(t *testing.T) {
	before := unpacked
	unpacked = &unpackedMemory{limit: before.limit}
	t.Cleanup(func() { unpacked = before })
	seg, data := packedSegment(t, 4)
	whole, err := seg.Block("text")
	if err != nil || !bytes.Equal(whole, data) {
		t.Errorf("%d bytes, error %v", len(whole), err)
	}
	if n := unpacked.used.Load(); n != int64(len(data)) {
		t.Errorf("%d bytes of decompressed blocks count, want %d", n, len(data))
	}
	runtime.KeepAlive(seg)
}
