package store

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/fs"
)

// TestCold writes blocks that shrink and blocks that do not, reads them back, and corrupts
// each byte of the file.
func TestCold(t *testing.T) {
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
	// Corrupt the packed bytes while the checksum stays right.
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
