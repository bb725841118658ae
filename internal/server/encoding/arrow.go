package encoding

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// arrowBuffer is the number of bytes of a stream that are collected before they are sent to the
// client.
const arrowBuffer = 64 << 10

// ArrowStream writes record batches as an Arrow IPC stream. It always holds back the newest batch,
// because the metadata of the last batch must have the number of rows, and whether rows were left
// out; both are known only at the end. So ArrowStream sends nothing before it gets the second
// batch, or before the end. If an error occurs before that, the server can still send an ordinary
// error answer.
type ArrowStream struct {
	open   func() io.Writer // returns the writer that receives the bytes; called before the first byte
	schema *arrow.Schema
	buffer *bufio.Writer     // nil before the first byte
	out    *ipc.Writer       // writes to buffer
	last   arrow.RecordBatch // the batch that is held back, or nil
	rows   int64
}

// NewArrowStream returns a stream of record batches with a schema. The argument `pairs` has names
// and values in turn, which become the metadata of the stream's schema. A pair with an empty value
// is left out.
func NewArrowStream(open func() io.Writer, schema *arrow.Schema, pairs ...string) *ArrowStream {
	meta := metadata(pairs)
	return &ArrowStream{open: open, schema: arrow.NewSchema(schema.Fields(), &meta)}
}

// metadata converts names and values, which follow each other in turn, to Arrow metadata. It leaves
// out pairs with an empty value.
func metadata(pairs []string) arrow.Metadata {
	var names, values []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			names, values = append(names, pairs[i]), append(values, pairs[i+1])
		}
	}
	return arrow.NewMetadata(names, values)
}

// Write sends the batch that was held back, and holds back `b` in its place. The stream releases
// `b`.
func (s *ArrowStream) Write(b arrow.RecordBatch) error {
	s.rows += b.NumRows()
	before := s.last
	s.last = b
	if before == nil {
		return nil
	}
	defer before.Release()
	return s.send(before)
}

// End sends the last batch with the metadata in `pairs`, and then the mark that ends the stream. If
// no batch was written, the last batch is one without rows.
func (s *ArrowStream) End(pairs ...string) error {
	if s.last == nil {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.schema)
		s.last = b.NewRecordBatch()
		b.Release()
	}
	pairs = append([]string{client.ArrowRowCount, strconv.FormatInt(s.rows, 10)}, pairs...)
	b := array.NewRecordBatchWithMetadata(s.schema, s.last.Columns(), s.last.NumRows(), metadata(pairs))
	defer b.Release()
	if err := s.send(b); err != nil {
		return err
	}
	if err := s.out.Close(); err != nil {
		return err
	}
	return s.buffer.Flush()
}

// Close releases the batch that is held back.
func (s *ArrowStream) Close() {
	if s.last != nil {
		s.last.Release()
		s.last = nil
	}
}

// send writes one batch.
func (s *ArrowStream) send(b arrow.RecordBatch) error {
	if s.out == nil {
		s.buffer = bufio.NewWriterSize(s.open(), arrowBuffer)
		s.out = ipc.NewWriter(s.buffer, ipc.WithSchema(s.schema))
	}
	return s.out.Write(b)
}

// arrowAnswer sends the rows of a read as an Arrow IPC stream. It sends a batch when the engine
// returns the next one. It observes the row limit of the options. It needs no limit of bytes,
// because it holds at most two batches in memory.
func (e *Writer) arrowAnswer(ctx context.Context, env *tool.Env, r *tool.ReadOutcome) error {
	schema := engine.ArrowSchema(r.Result.Columns())
	s := NewArrowStream(func() io.Writer { return e.enc.Arrow(r.Result.Commit(), e.Rights) }, schema,
		client.ArrowCommit, r.Result.Commit(), client.ArrowQuery, r.Query, client.ArrowBranch, branchRead(r), client.ArrowSnapshot, r.Snapshot)
	defer s.Close()
	from, why := r.Row, whole
	if skips, ok := r.Result.(skipper); ok {
		from -= skip(skips, from)
	}
	var ids []idColumn
	if e.entities != nil {
		ids = idColumns(r.Result.Columns())
	}
	rows := 0
	for why == whole {
		b, err := r.Result.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		first := int(min(from, int64(b.Len)))
		from -= int64(first)
		end := b.Len
		if most := e.enc.MaxRows; most > 0 && end-first > most-e.rows {
			end, why = first+most-e.rows, byRows
		}
		if first == end {
			continue
		}
		batch, err := engine.ArrowBatch(s.schema, b, memory.DefaultAllocator)
		if err != nil {
			return err
		}
		if first > 0 || end < b.Len {
			part := batch.NewSlice(int64(first), int64(end))
			batch.Release()
			batch = part
		}
		rows, e.rows = rows+end-first, e.rows+end-first
		for i := first; i < end && ids != nil; i++ {
			name(e.entities, ids, b.Columns, i)
		}
		if err := s.Write(batch); err != nil {
			return err
		}
	}
	if why == whole && r.Result.More() {
		why = byLimit
	}
	e.truncated = e.truncated || why != whole
	token := ""
	if why == byRows {
		token = queryrun.NextToken(env, r, rows)
	}
	notes := readNotes(ctx, r, rows == 0 && why == whole)
	if _, note := sourceOf(ctx, env, r.Result.Commit()); note != "" {
		notes = append(notes, note)
	}
	return s.End(client.ArrowTruncated, strconv.FormatBool(why != whole), client.ArrowTruncatedBy, string(why),
		client.ArrowNextPage, token, client.ArrowNotes, strings.Join(notes, "\n"))
}
