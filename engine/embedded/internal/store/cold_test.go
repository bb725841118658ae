package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestCold writes blocks that shrink by compression and blocks that do not. It reads them back in
// parts and whole. Then it corrupts bytes of the file; reads must report the fault.
func TestCold(t *testing.T) {
	slow.Test(t)
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 3*samples*sampleBytes)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	var ascending []byte
	for i := range uint32(100_000) {
		ascending = le.AppendUint32(ascending, i*7+rng.Uint32N(7))
	}
	type cold struct {
		name  string
		data  []byte
		delta bool
		small bool // whether it shrinks
	}
	blocks := []cold{
		{"empty", nil, false, false}, {"short", []byte("short"), false, false}, {"random", random, false, false},
		{"text", []byte(strings.Repeat("some text, again and again. ", 40_000)), false, true},
		{"zeros", make([]byte, 1<<20), false, true},
		{"ascending", ascending, true, true}, {"of odd length", append([]byte{1}, make([]byte, minCold)...), true, false},
	}
	// The last chunk of a block may be short: its frame has no size in its header.
	for _, rest := range []int{1, 4, noFrameSize - 1, noFrameSize} {
		blocks = append(blocks, cold{fmt.Sprint("a chunk and ", rest), ascending[:chunkSize+rest], rest%4 == 0, rest%4 == 0})
		blocks = append(blocks, cold{fmt.Sprint("zeros of a chunk and ", rest), make([]byte, chunkSize+rest), false, true})
	}
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	defer s.Close()
	id, err := s.WriteSegment(ctx, func(w *SegmentWriter) error {
		for _, b := range blocks {
			if err := w.AddCold(b.name, b.data, b.delta); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	must(t, s.Verify(ctx))
	seg, err := s.OpenSegment(ctx, id)
	must(t, err)
	for _, b := range blocks { // before Block decompresses them whole
		p, err := seg.Pieces(b.name)
		must(t, err)
		n := len(b.data)
		for _, r := range [][2]int{{0, 0}, {0, min(n, 1)}, {n / 3, n / 2}, {max(0, n-5), n}, {min(n, chunkSize-1), min(n, chunkSize+1)}} {
			if got, err := p.Range(r[0], r[1]); err != nil || !bytes.Equal(got, b.data[r[0]:r[1]]) {
				t.Errorf("%s, range %v: %d bytes, %v", b.name, r, len(got), err)
			}
			want := append([]byte("before"), b.data[r[0]:r[1]]...)
			if got, err := p.Append([]byte("before"), r[0], r[1]); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, appended range %v: %d bytes, %v", b.name, r, len(got), err)
			}
		}
		if got, err := p.Append(nil, 0, n); err != nil || !bytes.Equal(got, b.data) {
			t.Errorf("%s, appended whole: %d bytes, %v", b.name, len(got), err)
		}
	}
	for _, b := range blocks {
		got, err := seg.Block(b.name)
		if err != nil || !bytes.Equal(got, b.data) {
			t.Errorf("%s: %d bytes, %v, expected %d", b.name, len(got), err, len(b.data))
		}
		if e := seg.blocks[b.name]; (e.codec != codecNone) != b.small || b.small && e.length*2 > e.unpacked {
			t.Errorf("%s: codec %d, %d bytes in %d", b.name, e.codec, e.unpacked, e.length)
		}
	}
	name := filename("/g", uint64(id), segmentExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	for off := 0; off < len(data); off += 4099 {
		bad := mem.Crash(0)
		flipped := bytes.Clone(data)
		flipped[off] ^= 4
		replace(t, bad, name, flipped)
		if err := readEverything(t, bad); !onlyCorrupt(err, name) {
			t.Fatalf("offset %d: %v", off, err)
		}
	}
	// Corrupt the compressed bytes, but keep the checksum right.
	for _, b := range blocks {
		e := seg.blocks[b.name].blockEntry
		if e.codec == codecNone {
			continue
		}
		packed := data[e.offset : e.offset+e.length]
		for off := 0; off < len(packed); off += 1 + len(packed)/200 {
			flipped := bytes.Clone(packed)
			flipped[off] ^= 0x10
			_, _ = e.unpack(flipped, name) // any result is fine, except a panic
		}
		if _, err := e.unpack(packed[:len(packed)/2], name); !onlyCorrupt(err, name) {
			t.Errorf("%s cut in half: %v", b.name, err)
		}
		e.unpacked++
		if _, err := e.unpack(packed, name); !onlyCorrupt(err, name) {
			t.Errorf("%s with another length: %v", b.name, err)
		}
	}
}

// TestColdPieces damages one piece of a compressed block. Chunks outside the damaged piece must
// still be readable.
func TestColdPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var want []byte
	for len(want) < 24*chunkSize {
		want = fmt.Append(want, "word ", rng.IntN(1000), " ")
	}
	want = want[:24*chunkSize]
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	id, err := s.WriteSegment(t.Context(), func(w *SegmentWriter) error { return w.AddCold("c", want, false) })
	must(t, err)
	must(t, s.Checkpoint(t.Context(), nil, 0, []SegmentID{id}))
	must(t, s.Close())
	name := filename("/g", uint64(id), segmentExt)
	data, err := fs.ReadFile(mem, name)
	must(t, err)
	data[segmentHeaderSize+2*pieceSize+9] ^= 1
	replace(t, mem, name, data)
	s, _ = reopen(t, mem, "/g", tiny)
	defer s.Close()
	seg, err := s.OpenSegment(t.Context(), id)
	must(t, err)
	if b := seg.blocks["c"]; b.codec != codecChunks || len(b.blockEntry.pieces) < 5 {
		t.Fatalf("codec %d in %d pieces, want chunks in 5 or more", b.codec, len(b.blockEntry.pieces))
	}
	p, err := seg.Pieces("c")
	must(t, err)
	faults := 0
	for i := range 24 {
		p.Prefetch(i*chunkSize+7, i*chunkSize+107)
		got, err := p.Range(i*chunkSize+7, i*chunkSize+107)
		switch {
		case onlyCorrupt(err, name):
			faults++
		case err != nil || !bytes.Equal(got, want[i*chunkSize+7:][:100]):
			t.Errorf("chunk %d: %v", i, err)
		}
	}
	if faults == 0 || faults > 8 { // a piece of 64 KiB holds parts of a few chunks
		t.Errorf("%d of 24 chunks cannot be read, want those in one piece", faults)
	}
	if _, err := seg.Block("c"); !onlyCorrupt(err, name) {
		t.Errorf("the whole block: %v", err)
	}
}
