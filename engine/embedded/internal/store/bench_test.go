package store

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// BenchmarkAppend measures appends of durable records with payloads of 200 bytes.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers, " writers"), func(b *testing.B) {
			s := create(b, fs.OS(), b.TempDir(), Options{})
			defer s.Close()
			payload := pattern(200)
			var left atomic.Int64
			left.Store(int64(b.N))
			done := make(chan error)
			b.ReportAllocs()
			b.ResetTimer()
			for range writers {
				go func() {
					var err error
					for err == nil && left.Add(-1) >= 0 {
						_, err = s.Append(b.Context(), 1, payload)
					}
					done <- err
				}()
			}
			for range writers {
				must(b, <-done)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkOpen opens a store with 10,000 records after the manifest.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := create(b, fs.OS(), dir, Options{})
	for range 10_000 {
		_, err := s.Enqueue(1, pattern(200))
		must(b, err)
	}
	must(b, s.Close())
	b.ResetTimer()
	for range b.N {
		s, rec := reopen(b, fs.OS(), dir, Options{})
		if len(rec.Records) != 10_000 {
			b.Fatalf("%d records", len(rec.Records))
		}
		must(b, s.Close())
	}
}

// BenchmarkSegment writes and reads a segment of 16 MiB.
func BenchmarkSegment(b *testing.B) {
	data := pattern(16 << 20)
	s := create(b, fs.OS(), b.TempDir(), Options{})
	defer s.Close()
	var last SegmentID
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for range b.N {
			id, err := s.WriteSegment(b.Context(), func(w *SegmentWriter) error { return w.AddBlock("data", data) })
			must(b, err)
			if last != 0 {
				must(b, s.RemoveSegment(last))
			}
			last = id
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for range b.N {
			seg, err := s.OpenSegment(b.Context(), last)
			must(b, err)
			_, err = seg.Block("data")
			must(b, err)
		}
	})
}
