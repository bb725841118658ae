package column

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// RowCopies holds copies of the scalar values of several columns, row by row. A read of several
// values of one row waits for memory once, because the values lie side by side. In the columns, each
// value lies elsewhere, and a text needs two accesses that depend on each other.
//
// The copies of all rows have the same size, a multiple of cacheLine. The copy of a row consists
// of, in this order:
//
//	numbers and texts   8 bytes each; for a text, its start and its length, see putText
//	numbers             4 bytes each
//	numbers             1 byte each
//	nulls               1 bit for each column that has nulls
//	texts               the bytes of the texts that fit
type RowCopies struct {
	memory *Memory // contains data
	data   []byte  // the copies of the rows, one after another
	size   int     // bytes of the copy of a row
	n      uint32  // number of rows
	fields []field // by column
}

// field is the place of a column in the copy of each row.
type field struct {
	storage value.Storage // InNone if the column is not copied
	at      int           // offset of the value in the copy of a row
	null    int           // offset of the bit that is set if the value is null, in bits; -1 without nulls
	texts   []byte        // the texts of the column, for the texts that are not in the copies
	lines   int           // number of the first cache lines of the copy of a row in which the value mostly lies
}

const (
	cacheLine = 64 // bytes
	rowLines  = 4  // the most cache lines of the copy of a row
	// readText and shortText limit the bytes per row of columns of texts. A column with more than
	// readText is not read in order to copy it. The texts of a column with more than shortText are
	// not copied, only their places.
	readText, shortText = 256, 128
	inCopy              = uint32(1) << 31 // set in the length of a text that is in the copy of the row itself
)

// NewRowCopies copies n values of each column. It returns nil if fewer than two of the columns can
// be copied, or if there is no memory for the copies. The columns must have n values. NewRowCopies
// throws the faults of the columns; see package corruption.
func NewRowCopies(cols []*Column, n uint32) *RowCopies {
	if n == 0 || copied.Load()+int64(n)*cacheLine > copiesLimit() {
		return nil
	}
	r := &RowCopies{n: n, fields: make([]field, len(cols))}
	fields := 0
	for k, c := range cols {
		r.fields[k].null = -1
		if !c.isCopied() {
			continue
		}
		if c.ready(); uint64(len(c.data)) < uint64(inCopy) {
			r.fields[k].storage = c.typ.Kind.Storage()
			fields++
		}
	}
	if fields < 2 {
		return nil
	}
	texts, fixed := r.place(cols)
	lines := r.measure(cols, texts, fixed)
	for ; r.memory == nil; lines-- {
		if lines == 0 || lines*cacheLine < fixed {
			return nil
		}
		r.size = lines * cacheLine
		r.memory = NewMemory(int(n) * r.size)
	}
	r.data = r.memory.Bytes()
	for i := range n {
		r.fill(cols, texts, fixed, i)
	}
	return r
}

// isCopied reports whether a RowCopies may contain the column.
func (c *Column) isCopied() bool {
	if c.typ.List || c.allNull {
		return false
	}
	switch c.typ.Kind.Storage() {
	case value.InText:
		return !c.pending.Left() || c.storedBytes() <= readText*c.n && c.worthWhole()
	case value.InBits, value.InInt32, value.InUint32, value.InInt64, value.InUint64, value.InFloat32, value.InFloat64:
		return true
	case value.InBytes, value.InVector, value.InNone:
	}
	return false
}

// place sets the places of the values. It returns the columns whose texts may be in the copies, the
// shortest first, and the offset at which these texts start.
func (r *RowCopies) place(cols []*Column) (texts []int, at int) {
	for _, width := range []int{8, 4, 1} {
		for k := range r.fields {
			if f := &r.fields[k]; f.storage != value.InNone && f.width() == width {
				f.at, f.lines = at, at/cacheLine+1
				at += width
			}
		}
	}
	bit := 8 * at
	for k, c := range cols {
		f := &r.fields[k]
		if f.storage == value.InNone {
			continue
		}
		if c.valid != nil {
			f.null = bit
			bit++
		}
		if f.storage == value.InText {
			f.texts = c.data
			// The texts of a dictionary are few, so that the caches hold them anyway.
			if c.code == nil && len(c.data) <= shortText*c.n {
				texts = append(texts, k)
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b int) int { return len(cols[a].data) - len(cols[b].data) })
	return texts, (bit + 7) / 8
}

// width returns the number of bytes of a value, without the bytes of a text.
func (f *field) width() int {
	switch f.storage {
	case value.InBits:
		return 1
	case value.InInt32, value.InUint32, value.InFloat32:
		return 4
	case value.InInt64, value.InUint64, value.InFloat64, value.InText, value.InBytes, value.InVector, value.InNone:
	}
	return 8
}

// measure returns the number of cache lines that are enough for seven of eight rows, but at most
// rowLines. It sets the lines of the columns of texts.
func (r *RowCopies) measure(cols []*Column, texts []int, fixed int) (lines int) {
	end := fixed
	for _, k := range texts {
		end += len(cols[k].data) / int(r.n)
		r.fields[k].lines = min(max(1, (end+cacheLine-1)/cacheLine), rowLines)
	}
	var fit [rowLines + 1]int // rows by the number of lines that they need
	for i := range r.n {
		size := fixed
		for _, k := range texts {
			size += int(cols[k].off[i+1] - cols[k].off[i])
		}
		fit[min((size+cacheLine-1)/cacheLine, rowLines)]++
	}
	for sum := fit[0]; lines < rowLines && sum < int(r.n)/8*7; sum += fit[lines] {
		lines++
	}
	return max(lines, (fixed+cacheLine-1)/cacheLine)
}

// fill writes the copy of row i. Its texts start at the offset `at`.
func (r *RowCopies) fill(cols []*Column, texts []int, at int, i uint32) {
	row := r.row(i)
	for k, c := range cols {
		f := &r.fields[k]
		if f.storage == value.InNone {
			continue
		}
		if c.null(i) {
			row[f.null/8] |= 1 << (f.null % 8)
			continue
		}
		switch f.storage {
		case value.InText:
			place := i
			if c.code != nil {
				place = c.code[i]
			}
			putText(row[f.at:], c.off[place], c.off[place+1]-c.off[place])
		case value.InFloat32:
			binary.LittleEndian.PutUint32(row[f.at:], math.Float32bits(c.f32[i]))
		case value.InFloat64:
			binary.LittleEndian.PutUint64(row[f.at:], math.Float64bits(c.f64[i]))
		case value.InBits:
			row[f.at] = byte(c.integer(i))
		case value.InInt32, value.InUint32:
			binary.LittleEndian.PutUint32(row[f.at:], uint32(c.w32[i]))
		case value.InInt64, value.InUint64:
			binary.LittleEndian.PutUint64(row[f.at:], uint64(c.w64[i]))
		case value.InBytes, value.InVector, value.InNone:
		}
	}
	for _, k := range texts {
		c := cols[k]
		text := c.data[c.off[i]:c.off[i+1]]
		if c.null(i) || at+len(text) > len(row) {
			continue
		}
		copy(row[at:], text)
		putText(row[r.fields[k].at:], uint32(at), uint32(len(text))|inCopy)
		at += len(text)
	}
}

// putText writes the start and the length of a text.
func putText(dst []byte, start, n uint32) {
	binary.LittleEndian.PutUint64(dst, uint64(n)<<32|uint64(start))
}

// row returns the copy of row i.
func (r *RowCopies) row(i uint32) []byte { return r.data[int(i)*r.size:][:r.size] }

// Has reports whether column k is copied.
func (r *RowCopies) Has(k int) bool { return r.fields[k].storage != value.InNone }

// Str returns value i of column k, a String. The result aliases the copy, or the
// column.
func (r *RowCopies) Str(k int, i uint32) string { return r.fields[k].text(r.row(i)) }

// text returns the text of the field in the copy of a row.
func (f *field) text(row []byte) string {
	place := binary.LittleEndian.Uint64(row[f.at:])
	start, n, from := uint32(place), uint32(place>>32), f.texts
	if n&inCopy != 0 {
		n, from = n&^inCopy, row
	}
	if n == 0 {
		return ""
	}
	text := from[start:][:n]
	return unsafe.String(&text[0], len(text))
}

// Gather writes the values of column k at the given rows into dst, as [Column.Gather] does. The
// column must be copied.
func (r *RowCopies) Gather(k int, dst *Vec, at int, rows []uint32) {
	f := &r.fields[k]
	if f.null >= 0 {
		for i, n := range rows {
			if r.row(n)[f.null/8]>>(f.null%8)&1 != 0 {
				dst.SetNull(at + i)
			}
		}
	}
	switch f.storage {
	case value.InText:
		out := dst.Strings[at : at+len(rows)]
		for i, n := range rows {
			out[i] = f.text(r.row(n))
		}
	case value.InFloat32:
		out := dst.Floats[at : at+len(rows)]
		for i, n := range rows {
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(r.row(n)[f.at:])))
		}
	case value.InFloat64:
		out := dst.Floats[at : at+len(rows)]
		for i, n := range rows {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.row(n)[f.at:]))
		}
	case value.InBits:
		out := dst.Ints[at : at+len(rows)]
		for i, n := range rows {
			out[i] = int64(r.row(n)[f.at])
		}
	case value.InInt32:
		out := dst.Ints[at : at+len(rows)]
		for i, n := range rows {
			out[i] = int64(int32(binary.LittleEndian.Uint32(r.row(n)[f.at:])))
		}
	case value.InUint32:
		out := dst.Ints[at : at+len(rows)]
		for i, n := range rows {
			out[i] = int64(binary.LittleEndian.Uint32(r.row(n)[f.at:]))
		}
	case value.InInt64, value.InUint64:
		out := dst.Ints[at : at+len(rows)]
		for i, n := range rows {
			out[i] = int64(binary.LittleEndian.Uint64(r.row(n)[f.at:]))
		}
	case value.InBytes, value.InVector, value.InNone:
	}
}

// One writes the value of column k in row i to the first place of a column of its type. It reports
// false if it has not, because the value is null, or the column is not copied.
func (r *RowCopies) One(k int, i uint32, dst *engine.Column) bool {
	f, row := &r.fields[k], r.row(i)
	if f.null >= 0 && row[f.null/8]>>(f.null%8)&1 != 0 {
		return false
	}
	switch f.storage {
	case value.InText:
		dst.Strings[0] = f.text(row)
	case value.InFloat32:
		dst.Floats[0] = float64(math.Float32frombits(binary.LittleEndian.Uint32(row[f.at:])))
	case value.InFloat64:
		dst.Floats[0] = math.Float64frombits(binary.LittleEndian.Uint64(row[f.at:]))
	case value.InBits:
		dst.Ints[0] = int64(row[f.at])
	case value.InInt32:
		dst.Ints[0] = int64(int32(binary.LittleEndian.Uint32(row[f.at:])))
	case value.InUint32:
		dst.Ints[0] = int64(binary.LittleEndian.Uint32(row[f.at:]))
	case value.InInt64, value.InUint64:
		dst.Ints[0] = int64(binary.LittleEndian.Uint64(row[f.at:]))
	case value.InBytes, value.InVector, value.InNone:
		return false
	}
	return true
}

// Lines returns how many of the first cache lines of the copy of a row most likely hold the values
// of the given columns.
func (r *RowCopies) Lines(cols []int) (lines int) {
	for _, k := range cols {
		lines = max(lines, r.fields[k].lines)
	}
	return lines
}

// ReadAhead loads the first lines of the copy of row i into the processor's caches. The result has
// no meaning.
func (r *RowCopies) ReadAhead(i uint32, lines int) (sum uint32) {
	if i >= r.n {
		return 0
	}
	row := r.row(i)
	for at := 0; at < len(row) && lines > 0; at, lines = at+cacheLine, lines-1 {
		sum += uint32(row[at])
	}
	return sum
}

// InBackground starts the function `work` in a goroutine of its own. Only one such function runs
// at a time, so that the other processors stay free for readers. InBackground ignores a fault in
// stored data, because the next use of the data finds it again.
func InBackground(work func()) {
	go func() {
		wholeLock.Lock()
		defer wholeLock.Unlock()
		var fault error
		defer corruption.Catch(corruption.Watch(), &fault)
		work()
	}()
}
