package sink

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// SortKey is a key for comparing the collected rows: either a vector, or the ids of a
// variable's entities.
type SortKey struct {
	Vec    *column.Vec    // the values to compare; nil to compare ids
	Desc   bool           // the order is descending
	table  *version.Table // the table that has the ids, if vec and shared are nil
	shared *eval.Shared   // the tables that have the ids, for a variable over an interface; else nil
	sorted bool           // the table's ids ascend with the ordinals
	ords   []uint32       // by row: ordinal of the variable's entity
}

// sorter holds the order of the collected rows.
type sorter struct {
	Perm    []uint32  // numbers of rows
	sortBy  []SortKey // sort keys, the most significant first
	entries []entry   // the rows with the heads of their first key
	moved   []uint32  // memory for permute
}

// newSorter returns a sorter with memory for the sort keys of a query.
func newSorter(q *ir.Query) sorter {
	return sorter{sortBy: make([]SortKey, 0, len(q.Order)+len(q.Columns))}
}

const (
	// SortKeyBytes is the estimated memory per row and sort key, in bytes. It is the size
	// of a text, the widest of the common kinds.
	SortKeyBytes = 16
	// entryBytes is the memory per row during sorting, in bytes: an entry, and a row number
	// for reading the row's values.
	entryBytes = 16 + 4
	// CompareTick is the number of comparisons between two checks of the context.
	CompareTick = 1 << 14
)

// sort sorts the collected rows. Afterwards perm lists them; at least the first ones, up to
// the limit, are in order. The only possible errors are that of the context and a *engine.TooLarge.
func (co *Collector) sort() error {
	n := co.Rows.N
	co.Perm = slices.Grow(co.Perm[:0], n)[:n]
	if n < 2 {
		clear(co.Perm)
		return nil
	}
	// The additional memory during sorting, in bytes.
	taken := n * (4 + entryBytes + SortKeyBytes*(len(co.Order)+len(co.TieIDs)))
	if err := co.Spend(taken); err != nil {
		return err
	}
	defer co.Spend(-taken)
	if err := co.Ctx.Err(); err != nil {
		return err
	}
	return co.arrange(co.sortKeys(), n)
}

// arrange fills perm with the numbers of n rows and sorts it by the list `keys`. At least the first
// rows, up to the limit, are in order afterwards.
func (co *Collector) arrange(keys []SortKey, n int) error {
	co.sortBy = keys
	for i := range co.Perm[:n] {
		co.Perm[i] = uint32(i)
	}
	if len(keys) == 0 {
		return nil
	}
	co.entries = slices.Grow(co.entries[:0], n)[:n]
	if exact := keys[0].heads(co.entries); exact {
		if ascends(co.entries) {
			return nil
		}
		keys = keys[1:]
	}
	var err error
	left := CompareTick
	compare := func(a, b entry) int {
		switch {
		case a.head < b.head:
			return -1
		case a.head > b.head:
			return 1
		}
		if left--; left < 0 {
			left = CompareTick
			if err == nil {
				err = co.Ctx.Err()
			}
		}
		if err != nil {
			return 0 // ends the sort sooner; its result is not used
		}
		for i := range keys {
			if c := keys[i].Compare(a.row, b.row); c != 0 {
				return c
			}
		}
		return 0
	}
	entries := co.entries
	if limit := co.MaxRows; limit > 0 && limit < int64(n/4) {
		selectFirst(entries, int(limit), compare)
		entries = entries[:limit]
	}
	if len(entries) <= sortedByInsertion {
		insertionSort(entries, compare)
	} else {
		slices.SortFunc(entries, compare)
	}
	co.Perm = co.Perm[:len(entries)]
	for i := range entries {
		co.Perm[i] = entries[i].row
	}
	return err
}

// sortedByInsertion is the greatest number of rows that insertionSort sorts faster than
// [slices.SortFunc].
const sortedByInsertion = 16

// insertionSort sorts a few rows. It compares the heads itself, and calls the function `compare`
// only for rows with equal heads.
func insertionSort(rows []entry, compare func(a, b entry) int) {
	for i := 1; i < len(rows); i++ {
		row, at := rows[i], i
		for at > 0 && (row.head < rows[at-1].head || row.head == rows[at-1].head && compare(row, rows[at-1]) < 0) {
			rows[at] = rows[at-1]
			at--
		}
		rows[at] = row
	}
}

// sortKeys returns the keys for comparing the collected rows, including the tie-breaks.
func (co *Collector) sortKeys() []SortKey {
	n := co.Rows.N
	keys := co.sortBy[:0]
	ids := func(v plan.VarID, desc bool) {
		keys = append(keys, IDKey(co.Evaluator, v, co.Rows.Cols[v][:n], desc))
	}
	for _, o := range co.Order {
		switch {
		case o.Expr.Kind == ir.ExprConst:
		case co.IsID(o.Expr) && !o.Expr.Optional && co.Table(o.Expr.Var).Sorted():
			ids(o.Expr.Var, o.Desc) // needs no text
		default:
			keys = append(keys, SortKey{Vec: co.Eval(o.Expr, &co.Rows), Desc: o.Desc})
		}
	}
	for _, v := range co.Read.Ties {
		if ex := co.TieIDs[v]; ex != nil {
			keys = append(keys, SortKey{Vec: co.Eval(ex, &co.Rows)})
			continue
		}
		ids(v, false)
	}
	return keys
}

// IDKey returns the key that sorts rows by the ids of the entities of a variable or, over an interface, by the
// types and ids. The list `ords` has the ordinals of the entities.
func IDKey(ev *eval.Evaluator, v plan.VarID, ords []uint32, desc bool) SortKey {
	if s := ev.Shared(v); s != nil {
		return SortKey{shared: s, ords: ords, Desc: desc}
	}
	table := ev.Table(v)
	return SortKey{table: table, sorted: table.Sorted(), ords: ords, Desc: desc}
}

// selectFirst moves the first k rows, in the order of the function `compare`, to the front. Among
// themselves they may be in any order. A heap holds the best rows so far, with the worst on top, so
// that most rows are compared only with that one.
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
