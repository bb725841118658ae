package exec

import "github.com/omnigraph-go/omnigraph/gq/plan"

// frameSize is the number of rows that steps pass on at once.
const frameSize = 1024

// frame is a batch of rows. Each row assigns an ordinal to each bound variable.
type frame struct {
	n    int        // number of rows
	cols [][]uint32 // by variable: its ordinals, one per row
	// Only the frames of a `not` or `exists` block use the fields `outer` and `found`. For each row
	// of the frame, `outer` contains the row of the block's input from which the row was made.
	// `found` contains the rows of the input for which the block already has a match.
	outer []uint32
	found *rowSet
	// groups contains, for each row, the number of its group. Only the frames of a grouped result
	// use `groups`.
	groups []uint32
}

// rowSet is a set of rows of a frame.
type rowSet [frameSize / 64]uint64

// get reports whether the set contains row i.
func (s *rowSet) get(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }

// set adds row i to the set.
func (s *rowSet) set(i uint32) { s[i>>6] |= 1 << (i & 63) }

// isDone reports whether row i need not be processed any more.
func (f *frame) isDone(i int) bool { return f.found != nil && f.found.get(f.outer[i]) }

// repeat appends copies of row i of the frame `in`, for the given variables. It appends `times`
// copies, or fewer if there is no room for them. It returns the number of copies.
func (f *frame) repeat(in *frame, i int, vars []plan.VarID, times int) int {
	from := f.n
	f.n = min(from+times, frameSize)
	for _, v := range vars {
		to, ord := f.cols[v][from:f.n], in.cols[v][i]
		for k := range to {
			to[k] = ord
		}
	}
	if in.found != nil {
		f.found = in.found
		if cap(f.outer) < frameSize {
			f.outer = make([]uint32, frameSize)
		}
		f.outer = f.outer[:frameSize]
		for k := from; k < f.n; k++ {
			f.outer[k] = in.outer[i]
		}
	}
	return f.n - from
}

// copyRow appends a copy of row i of the frame `in`, for the given variables.
func (f *frame) copyRow(in *frame, i int, vars []plan.VarID) {
	for _, v := range vars {
		f.cols[v][f.n] = in.cols[v][i]
	}
	if in.found != nil {
		f.found = in.found
		if cap(f.outer) < frameSize {
			f.outer = make([]uint32, frameSize)
		}
		f.outer = f.outer[:frameSize]
		f.outer[f.n] = in.outer[i]
	}
}

// choose keeps only the given rows, which must be ascending.
func (f *frame) choose(rows []uint32, vars []plan.VarID) {
	if len(rows) == f.n {
		return
	}
	for _, v := range vars {
		col := f.cols[v]
		for i, r := range rows {
			col[i] = col[r]
		}
	}
	if f.found != nil {
		for i, r := range rows {
			f.outer[i] = f.outer[r]
		}
	}
	f.n = len(rows)
}
