package embedded_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

var (
	vectorRows    = flag.Int("vectors.rows", 20_000, "documents of BenchmarkApproximate")
	vectorDim     = flag.Int("vectors.dim", 768, "components of their vectors")
	vectorCentres = flag.Int("vectors.centres", 1000, "directions around which the vectors lie; 0 for vectors without structure")
)

// BenchmarkApproximate compares reads through an approximate index with exact reads, in a folder of
// the operating system. It reads all documents, a hundredth of them and half of them. It reports
// recall, the median and the 99th percentile of the times, the time to build the index, and the
// size of the stored index.
//
//	go test ./engine/embedded -run '^$' -bench Approximate -benchtime 1x -vectors.rows 100000
func BenchmarkApproximate(b *testing.B) {
	for range b.N {
		d := newDocs(b, *vectorDim, *vectorCentres)
		if err := d.g.Close(); err != nil {
			b.Fatal(err)
		}
		d.fs, d.opts = fs.OS(), embedded.Options{}.Quiet()
		dir := b.TempDir()
		g, err := embedded.Create(d.ctx, d.fs, dir, "", d.schema, d.opts)
		if err != nil {
			b.Fatal(err)
		}
		d.g = g
		d.stream(*vectorRows)
		if err := d.g.Checkpoint(d.ctx); err != nil {
			b.Fatal(err)
		}
		queries := make([][]float32, 300)
		for i := range queries {
			queries[i] = d.vector()
		}
		kinds := []string{"near", "one", "half"}
		exact := map[string][][]found{}
		for _, kind := range kinds {
			for _, q := range queries[:50] {
				d.ask("main", kind, q)
			}
			exact[kind] = d.timed(b, "exact-"+kind, kind, queries[:50])
		}
		disk, heap := bytesIn(b, d), heapBytes()
		began := clock.Now()
		if err := d.g.BuildVectors(d.ctx); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(clock.Now().Sub(began).Seconds(), "build-s")
		b.ReportMetric(float64(heapBytes()-heap)/1e6, "build-heap-MB")
		if err := d.g.Checkpoint(d.ctx); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(bytesIn(b, d)-disk)/1e6, "index-MB")
		nodes, breadth, _ := d.g.VectorIndex("main", 2)
		b.ReportMetric(float64(nodes), "nodes")
		b.ReportMetric(float64(breadth), "breadth")
		for _, kind := range kinds {
			got := d.timed(b, kind, kind, queries)
			hits := 0
			for i, rows := range exact[kind] {
				for _, row := range got[i] {
					if row.distance <= rows[len(rows)-1].distance {
						hits++
					}
				}
			}
			b.ReportMetric(float64(hits)/float64(10*len(exact[kind])), "recall-"+kind)
		}
		if err := d.g.Close(); err != nil {
			b.Fatal(err)
		}
		began = clock.Now()
		if d.g, err = embedded.Open(d.ctx, d.fs, dir, d.opts); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(clock.Now().Sub(began).Microseconds())/1e3, "open-ms")
		d.timed(b, "first", "near", queries[:1])
	}
}

// stream loads n documents. It does not add them to the model.
func (d *docs) stream(n int) {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(w, 1<<20)
		var line []byte
		for i := range n {
			line = fmt.Appendf(line[:0], `{"type":"Doc","data":{"slug":"d%07d","part":%d,"place":[`, i, d.rng.IntN(100))
			for k, x := range d.vector() {
				if k > 0 {
					line = append(line, ',')
				}
				line = strconv.AppendFloat(line, float64(x), 'f', 4, 32)
			}
			line = append(line, "]}}\n"...)
			if _, err := out.Write(line); err != nil {
				break
			}
		}
		w.CloseWithError(out.Flush())
	}()
	if _, err := d.g.Load(d.ctx, r, engine.LoadOptions{Mode: engine.Merge}); err != nil {
		d.t.Fatal(err)
	}
}

// timed runs the queries and reports the median and the 99th percentile of their times.
func (d *docs) timed(b *testing.B, name, kind string, queries [][]float32) (answers [][]found) {
	var times []time.Duration
	for _, q := range queries {
		began := clock.Now()
		rows := d.ask("main", kind, q)
		times = append(times, clock.Now().Sub(began))
		answers = append(answers, rows)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, name+"-p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1e3, name+"-p99-ms")
	return answers
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func bytesIn(b *testing.B, d *docs) (n int64) {
	b.Helper()
	for _, size := range d.g.SegmentSizes() {
		n += size
	}
	return n
}
