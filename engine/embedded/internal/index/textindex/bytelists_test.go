package textindex

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByteLists appends to many lists in random order and reads them again.
func TestByteLists(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	var b byteLists
	lists, want := make([]byteList, 300), make([][]uint64, 300)
	for range 200_000 {
		i := r.IntN(1 + r.IntN(len(lists)-1)) // the last list stays empty
		n := r.Uint64() >> r.IntN(64)
		b.put(&lists[i], binary.AppendUvarint(nil, n))
		want[i] = append(want[i], n)
	}
	bytesOf := 0
	for i := range lists {
		var got []uint64
		var data []byte
		for x := b.read(&lists[i]); x.more(); {
			got = append(got, x.uvarint())
			data = binary.AppendUvarint(data, got[len(got)-1])
		}
		if !slices.Equal(got, want[i]) {
			t.Fatalf("list %d has %d numbers, want %d", i, len(got), len(want[i]))
		}
		bytesOf += len(data)
	}
	if pages := len(b.pages) * pageBytes; pages > bytesOf*5/4+2*pageBytes {
		t.Errorf("the lists have %d bytes in pages of %d bytes", bytesOf, pages)
	}
}
