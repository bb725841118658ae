package engine

import (
	"context"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Result is the answer of a read, as batches of columns. Only one goroutine may use it at a time.
type Result interface {
	// Columns returns the columns of the plan.
	Columns() []plan.Column

	// Commit returns the id of the commit that was read.
	Commit() string

	// Next returns the next batch, or nil at the end. The batch, and all memory that it refers to,
	// is valid until the next call of Next or Close.
	Next(ctx context.Context) (*Batch, error)

	// More reports whether the read's own limit cut rows off. The report is valid once Next has
	// returned nil, and stays valid after Close. It is false for a read without a limit, and for a
	// limit of 0, which asks for no rows.
	More() bool

	// Close releases the result. Closing it twice is allowed.
	Close() error
}

// Batch is a sequence of rows, stored by column.
type Batch struct {
	Len     int      // number of rows
	Columns []Column // in the order of the query's columns
}

// Column is one column of a batch. Its type determines which of the slices is set. The slice has an
// entry for each row, including null rows:
//
//	Bool, I32, I64, U32, Date, DateTime   Ints (Bool as 0 and 1)
//	U64                                   Ints, as two's complement
//	F32, F64                              Floats
//	String                                Strings
//	Blob                                  Strings, raw bytes
//	Vector(n)                             Vectors
//	[T]                                   Lists
//	a record                              Fields, one column per field; all are null where the record is
//	a list of records                     Fields, one column per field, and Offsets
//
// A whole node is a record of its properties. In a column of lists of records, the records of row i
// are the rows of Fields from Offsets[i] up to, but not including, Offsets[i+1].
type Column struct {
	Type    value.Type    // type of the values
	Valid   Bitmap        // nil if no row is null
	Ints    []int64       // see the table above
	Floats  []float64     // see the table above
	Strings []string      // may point into the engine's memory: clone what must outlive the batch
	Vectors [][]float32   // see the table above
	Lists   []value.Value // each value is null or a list
	Fields  []Column      // see the table above
	Offsets []int32       // see above; it has one element more than there are rows, and the first one is 0
}

// IsNull reports whether row i is null.
func (c *Column) IsNull(i int) bool { return c.Valid != nil && !c.Valid.Get(i) }

// Value returns the value of row i. The column must not have Fields. Strings still point into the
// engine's memory.
func (c *Column) Value(i int) value.Value {
	switch {
	case c.IsNull(i):
		return value.Null
	case c.Type.List:
		return c.Lists[i]
	}
	switch k := c.Type.Kind; k.Storage() {
	case value.InText:
		return value.OfString(c.Strings[i])
	case value.InBytes:
		return value.OfRaw(k, strings.Clone(c.Strings[i]))
	case value.InBits, value.InInt32, value.InUint32, value.InInt64, value.InUint64:
		return value.OfBits(k, uint64(c.Ints[i]))
	case value.InFloat32:
		return value.OfF32(float32(c.Floats[i]))
	case value.InFloat64:
		return value.OfF64(c.Floats[i])
	case value.InVector:
		return value.OfVector(c.Vectors[i])
	case value.InNone:
	}
	panic("engine: column of type " + c.Type.String())
}

// Bitmap is a set of row numbers. Row i is bit i%64 of word i/64, where bit 0 is the least
// significant.
type Bitmap []uint64

// NewBitmap returns an empty bitmap for n rows.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// Get reports whether bit i is set.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (i & 63) }
