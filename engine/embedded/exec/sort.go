package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// sortKey is a key for comparing the collected rows: either a vector, or the ids of a
// variable's entities.
type sortKey struct {
	vec    *column.Vec
	desc   bool
	table  *version.Table // the table that has the ids, if vec is nil
	sorted bool           // the table's ids ascend with the ordinals
	ords   []uint32
}

// pruneAt is the least number of collected rows at which pruning to the limit starts.
const pruneAt = 8192

const (
	// sortKeyBytes is the estimated memory per row and sort key, in bytes. It is the size
	// of a text, the widest of the common kinds.
	sortKeyBytes = 16
	// entryBytes is the memory per row during sorting, in bytes: an entry, and a row number
	// for reading the row's values.
	entryBytes = 16 + 4
	// compareTick is the number of comparisons between two checks of the context.
	compareTick = 1 << 14
)

// collect collects the rows that the match yields.
func (st *state) collect(f *frame) error {
	if st.tallies {
		st.tally(f.n)
		return nil
	}
	if st.read.Grouped {
		return st.group(f)
	}
	if err := st.spend(4 * f.n * (len(st.keep) + 1)); err != nil {
		return err
	}
	for _, v := range st.keep {
		st.rows.cols[v] = append(st.rows.cols[v], f.cols[v][:f.n]...)
	}
	st.rows.n += f.n
	if limit := st.read.Limit; limit >= 0 && prunes(st.rows.n, limit) {
		if err := st.sort(); err != nil {
			return err
		}
		st.permute(int(limit))
	}
	return nil
}

// tally counts rows of a read that returns only their number.
func (st *state) tally(rows int) {
	if rows == 0 {
		return
	}
	if st.grouped == 0 {
		st.grouped++
		st.rows.n++
		st.addGroup()
	}
	for i := range st.sums {
		st.sums[i].counts[0] += int64(rows)
	}
}

// prunes reports whether to cut this many collected rows down to the limit. It reports true
// rarely enough that the total work is proportional to the number of rows.
func prunes(rows int, limit int64) bool { return rows >= pruneAt && int64(rows)/4 >= limit }

// finish sorts the collected rows and cuts them to the limit.
func (st *state) finish() error {
	if st.read.Grouped && st.grouped == 0 && !slices.ContainsFunc(st.Program.columns, func(c projection) bool { return c.agg < 0 }) {
		st.grouped++
		st.rows.n++
		st.addGroup()
	}
	order := st.sort
	if st.read.Grouped {
		order = st.sortGroups
	}
	st.readRows()
	if err := order(); err != nil {
		return err
	}
	if limit := st.read.Limit; limit >= 0 && int64(len(st.perm)) > limit {
		st.perm = st.perm[:limit]
	}
	return nil
}

// sort sorts the collected rows. Afterwards perm lists them; at least the first ones, up to
// the limit, are in order. The error is the context's, or a *engine.TooLarge.
func (st *state) sort() error {
	n := st.rows.n
	st.perm = slices.Grow(st.perm[:0], n)[:n]
	if n < 2 {
		clear(st.perm)
		return nil
	}
	// The additional memory during sorting, in bytes.
	taken := n * (4 + entryBytes + sortKeyBytes*len(st.order))
	if err := st.spend(taken); err != nil {
		return err
	}
	defer st.spend(-taken)
	if err := st.ctx.Err(); err != nil {
		return err
	}
	return st.arrange(st.sortKeys(), n)
}

// arrange fills perm with the numbers of n rows and sorts it by keys. At least the first
// rows, up to the limit, are in order afterwards.
func (st *state) arrange(keys []sortKey, n int) error {
	st.sortBy = keys
	for i := range st.perm[:n] {
		st.perm[i] = uint32(i)
	}
	if len(keys) == 0 {
		return nil
	}
	st.entries = slices.Grow(st.entries[:0], n)[:n]
	if exact := keys[0].heads(st.entries); exact {
		if ascends(st.entries) {
			return nil
		}
		keys = keys[1:]
	}
	var err error
	left := compareTick
	compare := func(a, b entry) int {
		switch {
		case a.head < b.head:
			return -1
		case a.head > b.head:
			return 1
		}
		if left--; left < 0 {
			left = compareTick
			if err == nil {
				err = st.ctx.Err()
			}
		}
		if err != nil {
			return 0 // ends the sort sooner; its result is not used
		}
		for i := range keys {
			if c := keys[i].compare(a.row, b.row); c != 0 {
				return c
			}
		}
		return 0
	}
	entries := st.entries
	if limit := st.read.Limit; limit > 0 && limit < int64(n/4) {
		selectFirst(entries, int(limit), compare)
		entries = entries[:limit]
	}
	if len(entries) <= insertionMost {
		insertionSort(entries, compare)
	} else {
		slices.SortFunc(entries, compare)
	}
	st.perm = st.perm[:len(entries)]
	for i := range entries {
		st.perm[i] = entries[i].row
	}
	return err
}

// sortKeys returns the keys for comparing the collected rows, including the tie-breaks.
func (st *state) sortKeys() []sortKey {
	n := st.rows.n
	keys := st.sortBy[:0]
	ids := func(v plan.VarID, desc bool) {
		keys = append(keys, sortKey{table: st.table(v), sorted: st.table(v).Sorted(), ords: st.rows.cols[v][:n], desc: desc})
	}
	for _, o := range st.order {
		switch {
		case o.ex.kind == exprConst:
		case st.isID(o.ex) && st.table(o.ex.v).Sorted():
			ids(o.ex.v, o.desc) // needs no text
		default:
			keys = append(keys, sortKey{vec: st.eval(o.ex, &st.rows), desc: o.desc})
		}
	}
	for _, v := range st.read.Ties {
		ids(v, false)
	}
	return keys
}

// isID reports whether an expression is the id of a variable's entity, or the property that
// holds the id.
func (p *Program) isID(e *expr) bool {
	return e.kind == exprID || e.kind == exprProp && p.types[e.v].IDProp == e.prop
}

// insertionMost is the largest number of rows for which insertion sort is the fastest.
const insertionMost = 12

func insertionSort(rows []entry, compare func(a, b entry) int) {
	for i := 1; i < len(rows); i++ {
		row, k := rows[i], i
		for ; k > 0 && compare(row, rows[k-1]) < 0; k-- {
			rows[k] = rows[k-1]
		}
		rows[k] = row
	}
}

// selectFirst moves the first k rows in compare's order to the front, in any order. A heap
// holds the best rows so far, with the worst on top, so that most rows are compared only
// with that one.
func selectFirst(rows []entry, k int, compare func(a, b entry) int) {
	heap := rows[:k]
	down := func(i int) {
		for {
			child := 2*i + 1
			if child >= k {
				return
			}
			if child+1 < k && compare(heap[child+1], heap[child]) > 0 {
				child++
			}
			if compare(heap[i], heap[child]) >= 0 {
				return
			}
			heap[i], heap[child] = heap[child], heap[i]
			i = child
		}
	}
	for i := k/2 - 1; i >= 0; i-- {
		down(i)
	}
	for i := k; i < len(rows); i++ {
		if rows[i].head <= heap[0].head && compare(rows[i], heap[0]) < 0 {
			rows[i], heap[0] = heap[0], rows[i]
			down(0)
		}
	}
}

// permute reduces the collected rows to the first n rows of perm, in that order.
func (st *state) permute(n int) {
	n = min(n, len(st.perm))
	for _, v := range st.keep {
		col := st.rows.cols[v]
		st.moved = slices.Grow(st.moved[:0], n)[:n]
		for i, p := range st.perm[:n] {
			st.moved[i] = col[p]
		}
		st.rows.cols[v] = append(col[:0], st.moved...)
	}
	st.spent -= int64(4 * (st.rows.n - n) * (len(st.keep) + 1))
	st.rows.n = n
}
