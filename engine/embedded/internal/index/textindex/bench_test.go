package textindex

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkTextView builds the index of 20,000 texts of 8 to 40 words from a vocabulary of
// 5,000.
func BenchmarkTextView(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 4999)
	l := &library{}
	for range 20_000 {
		var s strings.Builder
		for range 8 + r.IntN(33) {
			fmt.Fprintf(&s, "w%dx ", zipf.Uint64())
		}
		l.texts = append(l.texts, s.String())
		l.next++
	}
	b.ReportAllocs()
	for b.Loop() {
		NewView(l.next, l.rows, l.source)
	}
}
