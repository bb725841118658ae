package exec

import (
	"cmp"
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// sortKey is a key by which the collected rows are compared: a vector, or the ids of
// a variable's entities.
type sortKey struct {
	vec   *column.Vec
	desc  bool
	table *version.Table // of the ids, when vec is nil
	ords  []uint32
}

// pruneAt is the fewest collected rows that are cut down to the limit.
const pruneAt = 8192

const (
	// sortKeyBytes is what a row's value of a sort key takes, in bytes: that of a
	// text, which is the widest of the common ones.
	sortKeyBytes = 16
	// compareTick is how many comparisons go by between two looks at the context.
	compareTick = 1 << 14
)

// collect takes the rows that the match yields.
func (st *state) collect(f *frame) error {
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

// prunes reports whether so many collected rows are to be cut down to a limit: rarely
// enough that the work is in proportion to the rows.
func prunes(rows int, limit int64) bool { return rows >= pruneAt && int64(rows)/4 >= limit }

// finish sorts what was collected and cuts it to the limit.
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
	if err := order(); err != nil {
		return err
	}
	if limit := st.read.Limit; limit >= 0 && int64(len(st.perm)) > limit {
		st.perm = st.perm[:limit]
	}
	return nil
}

// sort orders the collected rows: perm lists them, the first of them at least that the
// limit keeps. The error is the context's, or a *engine.TooLarge.
func (st *state) sort() error {
	n := st.rows.n
	st.perm = slices.Grow(st.perm[:0], n)[:n]
	for i := range st.perm {
		st.perm[i] = uint32(i)
	}
	if n < 2 {
		return nil
	}
	// What sorting takes beside the rows, while it lasts.
	taken := n * (4 + sortKeyBytes*len(st.order))
	if err := st.spend(taken); err != nil {
		return err
	}
	defer st.spend(-taken)
	if err := st.ctx.Err(); err != nil {
		return err
	}
	keys := st.sortBy[:0]
	for _, o := range st.order {
		if o.ex.kind != exprConst {
			keys = append(keys, sortKey{vec: st.eval(o.ex, &st.rows), desc: o.desc})
		}
	}
	for _, v := range st.read.Ties {
		keys = append(keys, sortKey{table: st.table(v), ords: st.rows.cols[v][:n]})
	}
	st.sortBy = keys
	if len(keys) == 1 && keys[0].vec == nil && keys[0].table.Sorted() {
		ords := keys[0].ords
		if !slices.IsSorted(ords) {
			slices.SortFunc(st.perm, func(a, b uint32) int { return cmp.Compare(ords[a], ords[b]) })
		}
		return nil
	}
	var err error
	left := compareTick
	compare := func(a, b uint32) int {
		if left--; left < 0 {
			left = compareTick
			if err == nil {
				err = st.ctx.Err()
			}
		}
		if err != nil {
			return 0 // the sort ends the sooner, and its outcome is not looked at
		}
		for i := range keys {
			if c := keys[i].compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
	if limit := st.read.Limit; limit > 0 && limit < int64(n/4) {
		selectFirst(st.perm, int(limit), compare)
		st.perm = st.perm[:limit]
	}
	slices.SortFunc(st.perm, compare)
	return err
}

// selectFirst brings the first k of rows in compare's order to the front, in any order:
// a heap holds the best so far, the worst of them on top, and most rows are compared
// with that one alone.
func selectFirst(rows []uint32, k int, compare func(a, b uint32) int) {
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
		if compare(rows[i], heap[0]) < 0 {
			rows[i], heap[0] = heap[0], rows[i]
			down(0)
		}
	}
}

// permute makes the first n rows of perm the collected ones.
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

func (k *sortKey) compare(a, b uint32) int {
	if k.vec == nil {
		x, y := k.ords[a], k.ords[b]
		if x == y {
			return 0
		}
		if k.table.Sorted() {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(k.table.ID(x), k.table.ID(y))
	}
	c := compareAt(k.vec, int(a), int(b))
	if k.desc {
		return -c
	}
	return c
}

// compareAt orders two values of a vector: nulls first, NaN last.
func compareAt(v *column.Vec, a, b int) int {
	if v.Valid != nil {
		switch x, y := v.Valid.Get(a), v.Valid.Get(b); {
		case !x && !y:
			return 0
		case !x:
			return -1
		case !y:
			return 1
		}
	}
	if v.Type.List {
		return compareLists(v.Lists[a], v.Lists[b])
	}
	switch v.Type.Kind {
	case value.String, value.Blob:
		return cmp.Compare(v.Strings[a], v.Strings[b])
	case value.F32, value.F64:
		return compareFloats(v.Floats[a], v.Floats[b])
	case value.Vector:
		return slices.Compare(v.Vectors[a], v.Vectors[b])
	case value.U64:
		return cmp.Compare(uint64(v.Ints[a]), uint64(v.Ints[b]))
	}
	return cmp.Compare(v.Ints[a], v.Ints[b])
}

func compareFloats(x, y float64) int {
	switch xn, yn := math.IsNaN(x), math.IsNaN(y); {
	case xn && yn:
		return 0
	case xn:
		return 1
	case yn:
		return -1
	}
	return cmp.Compare(x, y)
}

func compareLists(a, b value.Value) int {
	return slices.CompareFunc(a.Elems(), b.Elems(), func(x, y value.Value) int {
		c, _ := value.Compare(x, y)
		return c
	})
}
