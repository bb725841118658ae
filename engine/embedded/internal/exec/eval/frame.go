package eval

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// And returns the rows that are in both sets.
func (s RowSet) And(o RowSet) RowSet {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// Without returns the rows of s that are not in o.
func (s RowSet) Without(o RowSet) RowSet {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

// Count returns the number of rows in the set.
func (s RowSet) Count() int64 {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return int64(n)
}

// IsEmpty reports whether the set contains no rows.
func (s RowSet) IsEmpty() bool { return s == RowSet{} }

// FrameSize is the number of rows that steps pass on at once.
const FrameSize = 1024

// Frame is a batch of rows. Each row assigns an ordinal to each bound variable.
type Frame struct {
	N    int        // number of rows
	Cols [][]uint32 // by variable: its ordinals, one per row
	// Only the frames of a `not` or `exists` block use the fields Outer and Found. For each row
	// of the frame, Outer contains the row of the block's input from which the row was made.
	// Found contains the rows of the input for which the block already has a match.
	Outer []uint32
	Found *RowSet
	// Groups contains, for each row, the number of its group. Only the frames of a grouped result
	// use Groups.
	Groups []uint32
}

// RowSet is a set of rows of a frame.
type RowSet [FrameSize / 64]uint64

// Get reports whether the set contains row i.
func (s *RowSet) Get(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }

// Set adds row i to the set.
func (s *RowSet) Set(i uint32) { s[i>>6] |= 1 << (i & 63) }

// IsDone reports whether row i need not be processed any more.
func (f *Frame) IsDone(i int) bool { return f.Found != nil && f.Found.Get(f.Outer[i]) }

// Repeat appends copies of row i of the frame `in`, for the given variables. It appends `times`
// copies, or fewer if there is no room for them. It returns the number of copies.
func (f *Frame) Repeat(in *Frame, i int, vars []plan.VarID, times int) int {
	from := f.N
	f.N = min(from+times, FrameSize)
	for _, v := range vars {
		to, ord := f.Cols[v][from:f.N], in.Cols[v][i]
		for k := range to {
			to[k] = ord
		}
	}
	if in.Found != nil {
		f.Found = in.Found
		if cap(f.Outer) < FrameSize {
			f.Outer = make([]uint32, FrameSize)
		}
		f.Outer = f.Outer[:FrameSize]
		for k := from; k < f.N; k++ {
			f.Outer[k] = in.Outer[i]
		}
	}
	return f.N - from
}

// CopyRow appends a copy of row i of the frame `in`, for the given variables.
func (f *Frame) CopyRow(in *Frame, i int, vars []plan.VarID) {
	for _, v := range vars {
		f.Cols[v][f.N] = in.Cols[v][i]
	}
	if in.Found != nil {
		f.Found = in.Found
		if cap(f.Outer) < FrameSize {
			f.Outer = make([]uint32, FrameSize)
		}
		f.Outer = f.Outer[:FrameSize]
		f.Outer[f.N] = in.Outer[i]
	}
}

// Choose keeps only the given rows, which must be ascending.
func (f *Frame) Choose(rows []uint32, vars []plan.VarID) {
	if len(rows) == f.N {
		return
	}
	for _, v := range vars {
		col := f.Cols[v]
		for i, r := range rows {
			col[i] = col[r]
		}
	}
	if f.Found != nil {
		for i, r := range rows {
			f.Outer[i] = f.Outer[r]
		}
	}
	f.N = len(rows)
}

// ColumnHead is the size of a column without its rows, in bytes.
const ColumnHead = 24
