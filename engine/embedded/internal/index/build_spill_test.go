package index

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// spillFiles is a Scratch whose files are in memory.
type spillFiles struct{ made, failAt int }

var errSpill = errors.New("no space is left")

func (f *spillFiles) scratch(write func(add func(string, []byte) error) error) (column.Source, error) {
	if f.made++; f.made == f.failAt {
		return nil, errSpill
	}
	m := spillSource{}
	return m, write(func(name string, data []byte) error {
		m[name] = slices.Clone(data)
		return nil
	})
}

type spillSource map[string][]byte

func (m spillSource) Name() string                         { return "memory" }
func (m spillSource) Block(name string) ([]byte, error)    { return m[name], nil }
func (m spillSource) Pieces(string) (column.Pieces, error) { panic("not used") }

// sameBase compares a base built in temporary files with one built in memory.
func sameBase(t *testing.T, what string, got Spilled, want interface {
	AppendDescriptor([]byte, int) []byte
	Blocks(int, string, func(string, []byte) error) error
}) {
	t.Helper()
	if a, b := got.AppendDescriptor(nil), want.AppendDescriptor(nil, 0); !bytes.Equal(a, b) {
		t.Fatalf("%s: descriptor %v, want %v", what, a, b)
	}
	blocks := spillSource{}
	err := got.Blocks("x", func(name string, pieces func(func([]byte) error) error) error {
		blocks[name] = []byte{}
		return pieces(func(b []byte) error { blocks[name] = append(blocks[name], b...); return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	err = want.Blocks(0, "x", func(name string, data []byte) error {
		if !bytes.Equal(blocks[name], data) {
			t.Errorf("%s: block %s of %d bytes differs, want %d bytes", what, name, len(blocks[name]), len(data))
		}
		delete(blocks, name)
		return nil
	})
	if err != nil || len(blocks) > 0 {
		t.Errorf("%s: %v, %d blocks too many", what, err, len(blocks))
	}
}

// TestSpilledBases builds hashes and adjacencies in temporary files, with many small parts. They
// must equal the hashes and adjacencies built in memory.
func TestSpilledBases(t *testing.T) {
	slow.Test(t)
	defer func(bits int) { partBits = bits }(partBits)
	rng := rand.New(rand.NewPCG(9, 10))
	for _, bits := range []int{3, 8, 20} {
		partBits = bits
		for _, n := range []uint32{0, 1, 2, 255, 256, 257, 20_000} {
			for _, values := range []uint64{1, 7, 1 << 40} {
				hash := make([]uint64, n)
				for i := range hash {
					hash[i] = Mix(1, string(rune(rng.Uint64N(values)&0xffff)))
				}
				of := func(ord uint32) (uint64, bool) { return hash[ord], ord%9 != 4 }
				got, err := SpillHash(n, (&spillFiles{}).scratch, of)
				if err != nil {
					t.Fatal(err)
				}
				want := BuildHash(n, of)
				sameBase(t, "hash", got, &want)
			}
			for _, nodes := range []uint32{1, 3, 5000} {
				for _, hubs := range []bool{false, true} {
					from, to := make([]uint32, n), make([]uint32, n)
					for i := range from {
						if from[i], to[i] = rng.Uint32N(nodes), rng.Uint32N(nodes); hubs && rng.IntN(3) > 0 {
							from[i], to[i] = nodes/2, nodes/3
						}
					}
					ends := func(e uint32) (uint32, uint32, bool) { return from[e], to[e], e%11 != 5 }
					got, err := SpillAdjacency(n, (&spillFiles{}).scratch, ends)
					if err != nil {
						t.Fatal(err)
					}
					want := BuildAdjacency(n, ends)
					sameBase(t, "adjacency", got, &want)
				}
			}
		}
	}
}

// TestSpillFails makes each temporary file fail in turn. The build must return the error.
func TestSpillFails(t *testing.T) {
	defer func(bits int) { partBits = bits }(partBits)
	partBits = 6
	hash := func(ord uint32) (uint64, bool) { return MixInt(1, uint64(ord)), true }
	ends := func(e uint32) (uint32, uint32, bool) { return e % 50, e % 70, true }
	for fail := range 3 {
		_, err := SpillHash(1000, (&spillFiles{failAt: fail + 1}).scratch, hash)
		if (fail < 2) != errors.Is(err, errSpill) {
			t.Errorf("hash, file %d: %v", fail, err)
		}
		_, err = SpillAdjacency(1000, (&spillFiles{failAt: fail + 1}).scratch, ends)
		if (fail < 2) != errors.Is(err, errSpill) {
			t.Errorf("adjacency, file %d: %v", fail, err)
		}
	}
}
