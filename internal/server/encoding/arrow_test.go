package encoding_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// counted is a result whose rows are the numbers from 0 on, in batches of 1,000 rows. All batches
// use the same memory.
type counted struct {
	rows, next int // number of rows, and the first number of the next batch
	more       bool
	batch      engine.Batch
	watch      func() // called before each batch
}

const batchRows = 1000

func (c *counted) Columns() []plan.Column {
	return []plan.Column{{Name: "n", Type: value.Of(value.I64)}, {Name: "text", Type: value.Of(value.String)}}
}
func (c *counted) Commit() string { return "01COMMIT" }
func (c *counted) More() bool     { return c.more }
func (c *counted) Close() error   { return nil }
func (c *counted) Next(context.Context) (*engine.Batch, error) {
	if c.watch != nil {
		c.watch()
	}
	if c.next == c.rows {
		return nil, nil
	}
	c.batch.Len = min(batchRows, c.rows-c.next)
	c.batch.Columns = []engine.Column{
		{Type: value.Of(value.I64), Ints: make([]int64, c.batch.Len)},
		{Type: value.Of(value.String), Strings: make([]string, c.batch.Len)},
	}
	for i := range c.batch.Len {
		c.batch.Columns[0].Ints[i] = int64(c.next + i)
		c.batch.Columns[1].Strings[i] = fmt.Sprint("row ", c.next+i)
	}
	c.next += c.batch.Len
	return &c.batch, nil
}

// stream sends a read as an Arrow stream to w and returns the writer of the answer.
func stream(t *testing.T, r *tool.ReadOutcome, rows int, w io.Writer) {
	t.Helper()
	e := encoding.NewWriter(encoding.Options{MaxRows: rows, Arrow: func(commit, _ string) io.Writer {
		if commit != "01COMMIT" {
			t.Errorf("the stream begins with the commit %q", commit)
		}
		return w
	}}, nil, 0)
	if _, err := e.Outcome(t.Context(), &tool.Env{}, &tool.Outcome{Read: r}, true); err != nil {
		t.Error(err)
	}
}

// TestArrowStream reads streams with and without limits. Each stream must have exactly the rows
// that the JSON answer has. Its last batch must say whether rows were left out.
func TestArrowStream(t *testing.T) {
	for _, tt := range []struct {
		rows, from, most int
		more             bool
		first, count     int
		by               string
	}{
		{rows: 0},
		{rows: 1, count: 1},
		{rows: 2500, count: 2500},
		{rows: 2500, most: 2500, count: 2500},
		{rows: 2500, most: 2499, count: 2499, by: "rows"},
		{rows: 2500, most: 1000, count: 1000, by: "rows"},
		{rows: 2500, from: 999, most: 2, first: 999, count: 2, by: "rows"},
		{rows: 2500, from: 1000, first: 1000, count: 1500},
		{rows: 2500, from: 2400, most: 100, first: 2400, count: 100},
		{rows: 2500, more: true, count: 2500, by: "limit"},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			from, to := io.Pipe()
			go func() {
				stream(t, &tool.ReadOutcome{Query: "q", Branch: new(tool.BranchNamed("draft")), Result: &counted{rows: tt.rows, more: tt.more}, Row: int64(tt.from)}, tt.most, to)
				to.Close()
			}()
			in, err := ipc.NewReader(from)
			if err != nil {
				t.Fatal(err)
			}
			meta := in.Schema().Metadata()
			for name, want := range map[string]string{client.ArrowCommit: "01COMMIT", client.ArrowQuery: "q", client.ArrowBranch: "draft"} {
				if got, _ := meta.GetValue(name); got != want {
					t.Errorf("the metadata %s is %q, expected %q", name, got, want)
				}
			}
			columns := (&counted{}).Columns()
			next, last := tt.first, arrow.Metadata{}
			for in.Next() {
				b, err := engine.BatchOfArrow(columns, in.RecordBatch())
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Len {
					if b.Columns[0].Ints[i] != int64(next) || b.Columns[1].Strings[i] != fmt.Sprint("row ", next) {
						t.Fatalf("row %d is %d, %s", next, b.Columns[0].Ints[i], b.Columns[1].Strings[i])
					}
					next++
				}
				last = in.RecordBatch().(arrow.RecordBatchWithMetadata).Metadata()
			}
			if in.Err() != nil || next-tt.first != tt.count {
				t.Errorf("found %d rows, %v; expected %d", next-tt.first, in.Err(), tt.count)
			}
			for name, want := range map[string]string{
				client.ArrowRowCount: fmt.Sprint(tt.count), client.ArrowTruncated: fmt.Sprint(tt.by != ""), client.ArrowTruncatedBy: tt.by,
			} {
				if got, _ := last.GetValue(name); got != want {
					t.Errorf("the metadata %s of the last batch is %q, expected %q", name, got, want)
				}
			}
		})
	}
}

// TestArrowStreamMemory compares the memory that a stream of a million rows takes with the memory
// that a stream of 5,000 rows takes, which is a page.
func TestArrowStreamMemory(t *testing.T) {
	peak := func(rows int) (most uint64, sent int64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before, batches := m.HeapAlloc, 0
		out := &countingWriter{}
		stream(t, &tool.ReadOutcome{Query: "q", Result: &counted{rows: rows, watch: func() {
			if batches++; batches%(rows/batchRows/4) != 0 {
				return
			}
			runtime.GC()
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > before {
				most = max(most, m.HeapAlloc-before)
			}
		}}}, 0, out)
		return most, out.n
	}
	page, _ := peak(5000)
	million, sent := peak(1_000_000)
	t.Logf("a stream of a million rows has %d bytes; the heap grew by %d bytes at most, and by %d for 5,000 rows", sent, million, page)
	if sent < 20_000_000 {
		t.Errorf("the stream of a million rows has only %d bytes", sent)
	}
	if million > page+1<<20 {
		t.Errorf("the heap grew by %d bytes for a million rows, and by %d for 5,000", million, page)
	}
}

// countingWriter counts the bytes that it gets.
type countingWriter struct{ n int64 }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	return len(p), nil
}
