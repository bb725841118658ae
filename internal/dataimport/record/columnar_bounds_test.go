package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batchOf returns a batch of columns.
func batchOf(columns ...arrow.Array) arrow.RecordBatch {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: "c" + string(rune('a'+i)), Type: c.DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

// stream returns a stream of Arrow with a batch some times.
func stream(t *testing.T, batch arrow.RecordBatch, times int, opts ...ipc.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(opts, ipc.WithSchema(batch.Schema()))...)
	for range times {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zeros returns a column of zeros.
func zeros(n int) arrow.Array {
	return array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, n, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 8*n))}, nil, 0, 0))
}

// listOfNulls returns a column of lists that have all the elements of one list of nulls.
func listOfNulls(elements int) arrow.Array {
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, int32(elements)}))
	child := array.NewNull(elements)
	return array.NewListData(array.NewData(arrow.ListOf(arrow.Null), 1, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{child.Data()}, 0, 0))
}

// read reads the first column of a file. It returns the number of records and the fault.
func read(f File) (int, error) {
	r, err := Open(f, Options{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	r.Select(r.Columns()[:1])
	for n := 0; ; n++ {
		if _, err := r.Next(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// TestColumnarBounds reads small files of Arrow that say that they have much. None may take more memory or time than its size
// allows.
func TestColumnarBounds(t *testing.T) {
	many := make([]arrow.Array, 12)
	for i := range many {
		many[i] = zeros(2 << 20)
	}
	for _, c := range []struct {
		name    string
		content []byte
		records int
		want    string
	}{
		{"list.arrows", stream(t, batchOf(listOfNulls(2<<20)), 1), 0, "lists of 2097152 elements in a row"},
		{"rows.arrows", stream(t, batchOf(array.NewNull(4<<20)), 1), 0, "a batch of 4194304 rows"},
		{"batches.arrows", stream(t, batchOf(array.NewNull(900_000)), 10), 1_800_000, "a batch of 900000 rows"},
		{"buffers.arrows", stream(t, batchOf(many...), 1, ipc.WithZstd()), 0, "buffers of"},
	} {
		n, err := read(file(t, c.name, c.content))
		if n != c.records || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "expected at most") {
			t.Errorf("%s of %d bytes: %d records and %v, want %d and %q", c.name, len(c.content), n, err, c.records, c.want)
		}
	}
}

// TestColumnarFreesBatches reads files of many batches. It counts the bytes of those that are in memory at one time.
func TestColumnarFreesBatches(t *testing.T) {
	const rows, times = batchRows, 32
	const whole = 8 * rows * times
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32)
	words := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})
	for i := range rows {
		texts.Append(strconv.Itoa(i))
		lists.Append(true)
		lists.ValueBuilder().(*array.Int32Builder).Append(int32(i))
		if err := words.AppendValueFromString(strconv.Itoa(i % 9)); err != nil {
			t.Fatal(err)
		}
	}
	batch := batchOf(zeros(rows), texts.NewArray(), lists.NewArray(), words.NewArray())
	var arrowFile, parquetFile bytes.Buffer
	w, err := ipc.NewFileWriter(&arrowFile, ipc.WithSchema(batch.Schema()), ipc.WithZstd())
	if err != nil {
		t.Fatal(err)
	}
	p, err := pqarrow.NewFileWriter(batch.Schema(), &parquetFile, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(false)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		if err := errors.Join(w.Write(batch), p.Write(batch)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"a.arrow": arrowFile.Bytes(), "a.parquet": parquetFile.Bytes(), "a.arrows": stream(t, batch, times, ipc.WithZstd()),
	} {
		r, err := Open(file(t, name, content), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Select(r.Columns())
		n, live := 0, int64(0)
		for {
			if _, err = r.Next(); err != nil {
				break
			}
			n, live = n+1, max(live, r.(*columnar).memory.live.Load())
		}
		t.Logf("%s: %d records, at most %d of %d bytes at one time", name, n, live, whole)
		if n != rows*times || err != io.EOF || live < 8*rows || live > whole/2 {
			t.Errorf("%s: %d records, at most %d of %d bytes at one time, %v", name, n, live, whole, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOldEndOfStream reads a stream that ends as those before Arrow 0.15 do.
func TestOldEndOfStream(t *testing.T) {
	content := stream(t, batchOf(zeros(3)), 1)
	content = content[:len(content)-4]
	binary.LittleEndian.PutUint32(content[len(content)-4:], 0)
	if n, err := read(file(t, "a.arrows", content)); n != 3 || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
	content = content[:len(content)-2]
	if _, err := read(file(t, "a.arrows", content)); err == nil {
		t.Error("a stream that is cut in its end has no fault")
	}
}
