package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batchRows is the number of rows of Parquet in memory at a time.
const batchRows = 4096

// columnar reads Parquet and Arrow. A member of a struct is a column of its own, such as address.city.
type columnar struct {
	name    string
	columns []string
	paths   [][]int                                        // by column: the field of the schema, and then the members of structs
	at      []int                                          // by selected column: its index in columns, -1 for none
	choose  func(fields []int) (batchReader, []int, error) // opens the reader of some fields; returns the fields that its batches have
	closers []func() error
	memory  *bounded

	batches batchReader     // nil before the first record
	fields  []int           // the fields of a batch
	cells   []arrow.Array   // of the batch, by selected column; nil for none
	parents [][]arrow.Array // of the batch, by selected column: the structs around it
	next    int             // row in the batch
	rows    int             // number of rows in the batch
	record  Record
	elems   int64  // number of elements of the record's lists
	text    []byte // holds the texts of the record's numbers
}

// maxBuffer is the maximum size of one buffer of a batch, in bytes. The buffers of a small file are smaller: at most smallBuffer, and
// maxExpansion times the size of the file. All buffers that are in memory have together at most maxBuffers times the constant sizes.
const (
	maxBuffer    = 1 << 30
	smallBuffer  = 32 << 20
	maxExpansion = 1024
	maxBuffers   = 4
)

// The elements of lists in a record and the rows of a file may have no bytes, so they are bounded by the size of the file too: at most
// smallCount, and elementsPerByte elements or maxExpansion rows for each byte. An element takes more memory than a bit of a file.
const (
	smallCount      = 1 << 20
	elementsPerByte = 8
)

// bounded is an allocator that panics for a buffer that is too large, or one too many, as a damaged file may ask for.
type bounded struct {
	memory.Allocator
	size  int64        // bytes of the file
	most  int64        // bytes of a buffer
	total int64        // bytes of all buffers
	live  atomic.Int64 // bytes of the buffers that there are
}

// newBounded returns an allocator for a file of a size.
func newBounded(in seekable) (*bounded, error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	_, err = in.Seek(0, io.SeekStart)
	return &bounded{
		Allocator: memory.DefaultAllocator,
		size:      size,
		most:      min(maxBuffer, smallBuffer+maxExpansion*size),
		total:     min(maxBuffers*maxBuffer, maxBuffers*smallBuffer+maxExpansion*size),
	}, err
}

// Allocate implements [memory.Allocator].
func (a *bounded) Allocate(size int) []byte {
	a.check(size, 0)
	return a.Allocator.Allocate(size)
}

// Reallocate implements [memory.Allocator].
func (a *bounded) Reallocate(size int, b []byte) []byte {
	a.check(size, len(b))
	return a.Allocator.Reallocate(size, b)
}

// Free implements [memory.Allocator].
func (a *bounded) Free(b []byte) {
	a.live.Add(-int64(len(b)))
	a.Allocator.Free(b)
}

// check counts a buffer that replaces one of another size. It panics if there is no place for it.
func (a *bounded) check(size, old int) {
	if size < 0 || int64(size) > a.most {
		panic(fmt.Sprintf("a buffer of %d bytes, expected at most %d", size, a.most))
	}
	if live := a.live.Add(int64(size - old)); live > a.total {
		panic(fmt.Sprintf("buffers of %d bytes together, expected at most %d", live, a.total))
	}
}

// seekable is a file that can be read at any place.
type seekable interface {
	io.ReaderAt
	io.ReadSeeker
}

// counted counts the bytes that are read from a file.
type counted struct {
	*os.File
	count func(n int)
}

// ReadAt implements [io.ReaderAt].
func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.count(n)
	return n, err
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.count(n)
	return n, err
}

// openColumnar opens a file of Parquet or Arrow. A compressed file is first decompressed into a temporary file.
func openColumnar(f File, format string, opts Options) (r Reader, err error) {
	c := &columnar{name: f.Name}
	defer func() {
		if p := recover(); p != nil {
			err = c.damaged(p)
		}
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	in, err := c.open(f, opts)
	if err != nil {
		return nil, err
	}
	memory, err := newBounded(in)
	if err != nil {
		return nil, err
	}
	c.memory = memory
	if format == Parquet {
		err = c.parquet(in, memory)
	} else {
		err = c.arrow(in, memory)
	}
	if err != nil {
		return nil, &Fault{File: f.Name, Err: err, Final: true}
	}
	if err := checkColumns(c.columns); err != nil {
		return nil, &Fault{File: f.Name, Err: err, Final: true}
	}
	return c, nil
}

// damaged returns the fault for a panic of the library.
func (c *columnar) damaged(p any) *Fault {
	return &Fault{File: c.name, Row: c.record.Row, Err: fmt.Errorf("the file is damaged: %v", p), Final: true}
}

// open opens a file for reading at any place.
func (c *columnar) open(f File, opts Options) (seekable, error) {
	in, err := openBytes(f, Options{Plain: opts.Plain})
	if err != nil {
		return nil, err
	}
	if !in.compressed {
		if err := in.Close(); err != nil {
			return nil, err
		}
		plain, err := os.Open(f.Path)
		if err != nil {
			return nil, err
		}
		c.closers = append(c.closers, plain.Close)
		if opts.Count == nil {
			return plain, nil
		}
		return &counted{plain, opts.Count}, nil
	}
	tmp, err := os.CreateTemp("", "omnigraph-import-*")
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	c.closers = append(c.closers, func() error { return errors.Join(tmp.Close(), os.Remove(tmp.Name())) })
	_, err = io.Copy(tmp, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, &Fault{File: f.Name, Err: err, Final: true}
	}
	_, err = tmp.Seek(0, io.SeekStart)
	return tmp, err
}

// parquet opens a Parquet file.
func (c *columnar) parquet(in seekable, memory *bounded) error {
	props := parquet.NewReaderProperties(memory)
	props.BufferedStreamEnabled = true // do not hold whole column chunks
	pf, err := pqfile.NewParquetReader(in, pqfile.WithReadProps(props))
	if err != nil {
		return err
	}
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory)
	if err != nil {
		return err
	}
	schema, err := fr.Schema()
	if err != nil {
		return err
	}
	c.flatten(schema)
	c.choose = func(fields []int) (batchReader, []int, error) {
		var leaves []int
		for i := range pf.MetaData().Schema.NumColumns() {
			root := pf.MetaData().Schema.ColumnRoot(i).Name()
			if slices.ContainsFunc(fields, func(f int) bool { return schema.Field(f).Name == root }) {
				leaves = append(leaves, i)
			}
		}
		r, err := fr.GetRecordReader(context.Background(), leaves, nil)
		return r, fields, err
	}
	return nil
}

// arrow opens an Arrow IPC file or stream.
func (c *columnar) arrow(in seekable, memory *bounded) error {
	magic := make([]byte, 6)
	n, err := in.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return err
	}
	var r batchReader
	if bytes.Equal(magic[:n], []byte(arrowMagic)) {
		if err := checkArrowFile(in, memory.size); err != nil {
			return err
		}
		fr, err := ipc.NewFileReader(in, ipc.WithAllocator(memory), ipc.WithBodySizeLimit(maxBuffer))
		if err != nil {
			return err
		}
		c.closers = append(c.closers, fr.Close)
		r = &fileBatches{FileReader: fr}
	} else if !bytes.HasPrefix(magic[:n], []byte("\xff\xff\xff\xff")) { // the library takes other bytes for lengths, and allocates as much
		return errors.New("it is neither an Arrow file nor an Arrow stream")
	} else {
		if err := checkArrowStream(in, memory.size); err != nil {
			return err
		}
		sr, err := ipc.NewReader(in, ipc.WithAllocator(memory)) // which reads the bodies into buffers of the allocator
		if err != nil {
			return err
		}
		r = sr
	}
	c.flatten(r.Schema())
	c.choose = func([]int) (batchReader, []int, error) {
		all := make([]int, r.Schema().NumFields())
		for i := range all {
			all[i] = i
		}
		return r, all, nil
	}
	return nil
}

// batchReader reads batches. A batch is valid until the next one is read.
type batchReader interface {
	Schema() *arrow.Schema
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
	Release()
}

// fileBatches reads the batches of an Arrow file in order. It implements [batchReader].
type fileBatches struct {
	*ipc.FileReader
	i     int
	batch arrow.RecordBatch
	err   error
}

// Next implements [batchReader].
func (f *fileBatches) Next() bool {
	f.batch = nil
	if f.err != nil || f.i == f.NumRecords() {
		return false
	}
	f.batch, f.err = f.FileReader.RecordBatch(f.i)
	f.i++
	return f.err == nil
}

// RecordBatch implements [batchReader].
func (f *fileBatches) RecordBatch() arrow.RecordBatch { return f.batch }

// Err implements [batchReader].
func (f *fileBatches) Err() error { return f.err }

// Release implements [batchReader].
func (*fileBatches) Release() {}

// flatten lists the columns of a schema.
func (c *columnar) flatten(s *arrow.Schema) {
	var add func(prefix string, path []int, f arrow.Field)
	add = func(prefix string, path []int, f arrow.Field) {
		name := prefix + f.Name
		if t, ok := f.Type.(*arrow.StructType); ok {
			for i, member := range t.Fields() {
				add(name+".", append(slices.Clone(path), i), member)
			}
			return
		}
		c.columns, c.paths = append(c.columns, name), append(c.paths, path)
	}
	for i, f := range s.Fields() {
		add("", []int{i}, f)
	}
}

// Columns implements [Reader].
func (c *columnar) Columns() []string { return c.columns }

// Select implements [Reader].
func (c *columnar) Select(columns []string) {
	c.at = positions(c.columns, columns)
	c.record.Values = make([]Value, len(columns))
	c.cells, c.parents = make([]arrow.Array, len(columns)), make([][]arrow.Array, len(columns))
}

// Close implements [Reader].
func (c *columnar) Close() error {
	if c.batches != nil {
		c.batches.Release()
	}
	var err error
	for i := len(c.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, c.closers[i]())
	}
	return err
}

// Next implements [Reader].
func (c *columnar) Next() (r *Record, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, c.damaged(p)
		}
	}()
	for c.next == c.rows {
		more, err := c.batch()
		if err != nil {
			return nil, &Fault{File: c.name, Row: c.record.Row, Err: err, Final: true}
		}
		if !more {
			return nil, io.EOF
		}
	}
	c.record.Row++
	c.text, c.elems = c.text[:0], 0
	for i, cell := range c.cells {
		v := &c.record.Values[i]
		*v = Value{}
		null := cell == nil
		for _, p := range c.parents[i] {
			null = null || p.IsNull(c.next)
		}
		if !null {
			*v = c.value(cell, c.next)
		}
	}
	c.next++
	return &c.record, nil
}

// batch reads the next batch, and reports whether there is one.
func (c *columnar) batch() (bool, error) {
	if c.batches == nil {
		var wanted []int
		for _, at := range c.at {
			if at >= 0 {
				wanted = append(wanted, c.paths[at][0])
			}
		}
		if len(wanted) == 0 {
			wanted = []int{0} // to count the rows
		}
		slices.Sort(wanted)
		var err error
		if c.batches, c.fields, err = c.choose(slices.Compact(wanted)); err != nil {
			return false, err
		}
	}
	if !c.batches.Next() {
		if err := c.batches.Err(); err != nil && err != io.EOF {
			return false, err
		}
		return false, nil
	}
	b := c.batches.RecordBatch()
	if most := smallCount + maxExpansion*c.memory.size - int64(c.record.Row); b.NumRows() < 0 || b.NumRows() > most {
		return false, fmt.Errorf("the file is damaged: a batch of %d rows, expected at most %d", b.NumRows(), most)
	}
	c.next, c.rows = 0, int(b.NumRows())
	for i, at := range c.at {
		if at < 0 {
			continue
		}
		path := c.paths[at]
		cell := b.Column(slices.Index(c.fields, path[0]))
		c.parents[i] = c.parents[i][:0]
		for _, member := range path[1:] {
			c.parents[i] = append(c.parents[i], cell)
			cell = cell.(*array.Struct).Field(member)
		}
		c.cells[i] = cell
	}
	return true, nil
}

// number returns a number whose literal f appends.
func (c *columnar) number(f func(dst []byte) []byte) Value {
	from := len(c.text)
	c.text = f(c.text)
	return Value{Kind: Number, Raw: c.text[from:len(c.text):len(c.text)]}
}

// float returns a float, as a text if it is no number.
func (c *columnar) float(f float64, bits int) Value {
	v := c.number(func(dst []byte) []byte { return strconv.AppendFloat(dst, f, 'g', -1, bits) })
	if math.IsNaN(f) || math.IsInf(f, 0) {
		v.Kind = Text
	}
	return v
}

// raw returns the bytes of a text that stays valid as long as the batch.
func raw(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// of is implemented by the arrays of values of a Go type.
type of[T any] interface{ Value(i int) T }

// value returns a cell.
func (c *columnar) value(a arrow.Array, i int) Value {
	if a.IsNull(i) {
		return Value{}
	}
	signed := func(n int64) Value { return c.number(func(dst []byte) []byte { return strconv.AppendInt(dst, n, 10) }) }
	unsigned := func(n uint64) Value {
		return c.number(func(dst []byte) []byte { return strconv.AppendUint(dst, n, 10) })
	}
	switch a := a.(type) {
	case *array.String: // a case of a type is much cheaper than one of an interface
		return Value{Kind: Text, Raw: raw(a.Value(i))}
	case *array.Int64:
		return signed(a.Value(i))
	case *array.Int32:
		return signed(int64(a.Value(i)))
	case *array.Date32:
		return Value{Kind: Date, Time: a.Value(i).ToTime()}
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		kind := Local
		if t.TimeZone != "" {
			kind = Instant
		}
		return Value{Kind: kind, Time: a.Value(i).ToTime(t.Unit)}
	case of[int8]:
		return signed(int64(a.Value(i)))
	case of[int16]:
		return signed(int64(a.Value(i)))
	case of[uint8]:
		return unsigned(uint64(a.Value(i)))
	case of[uint16]:
		return unsigned(uint64(a.Value(i)))
	case of[uint32]:
		return unsigned(uint64(a.Value(i)))
	case of[uint64]:
		return unsigned(a.Value(i))
	case of[float32]:
		return c.float(float64(a.Value(i)), 32)
	case of[float64]:
		return c.float(a.Value(i), 64)
	case of[bool]:
		return Value{Kind: Bool, Bool: a.Value(i)}
	case *extensions.UUIDArray:
		return OfText(a.Value(i).String())
	case of[string]:
		return Value{Kind: Text, Raw: raw(a.Value(i))}
	case of[[]byte]:
		return Value{Kind: Bytes, Raw: a.Value(i)}
	case *array.Date64:
		return Value{Kind: Date, Time: a.Value(i).ToTime()}
	case *array.Duration:
		unit := a.DataType().(*arrow.DurationType).Unit.Multiplier()
		if n := int64(a.Value(i)); n <= math.MaxInt64/int64(unit) && n >= math.MinInt64/int64(unit) {
			return Value{Kind: Span, Span: time.Duration(n) * unit}
		}
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return c.number(func(dst []byte) []byte { return append(dst, a.Value(i).ToString(scale)...) })
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		return c.number(func(dst []byte) []byte { return append(dst, a.Value(i).ToString(scale)...) })
	case *array.Dictionary:
		return c.value(a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		if n := a.ListValues().Len(); from < 0 || from > to || to > int64(n) {
			panic(fmt.Sprintf("a list has the elements %d to %d of %d", from, to, n))
		}
		if c.elems += to - from; c.elems > smallCount+elementsPerByte*c.memory.size {
			panic(fmt.Sprintf("lists of %d elements in a row, expected at most %d", c.elems, smallCount+elementsPerByte*c.memory.size))
		}
		out := Value{Kind: List, Elems: make([]Value, 0, to-from)}
		for at := from; at < to; at++ {
			out.Elems = append(out.Elems, c.value(a.ListValues(), int(at)))
		}
		return out
	case array.ExtensionArray:
		return c.value(a.Storage(), i)
	}
	return OfText(strings.ToValidUTF8(a.ValueStr(i), "\ufffd"))
}
