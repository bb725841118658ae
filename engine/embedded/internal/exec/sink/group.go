package sink

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// GroupTimes adds each row of a frame to its group, counted as many times as its weight says.
func (co *Collector) GroupTimes(f *eval.Frame, weights []int64) error {
	if f.N == 0 {
		return nil
	}
	ids, err := co.assign(f)
	if err != nil {
		return err
	}
	for k := range co.sums {
		counts := co.sums[k].Counts
		for i, id := range ids {
			if counts[id] += weights[i]; counts[id] < 0 {
				return CountTooLarge()
			}
		}
	}
	return nil
}

// grouper finds the groups of a run's rows. If the key depends on only one variable,
// grouper computes the key once per entity, as soon as there are enough rows to be worth
// the memory.
type grouper struct {
	Grouped       int               // number of groups
	groups        map[string]uint32 // by key: the number of the group
	sums          []Accumulator     // by aggregate
	key           []byte            // memory for the key of one row
	ids           []uint32          // the groups of the rows of one frame
	rowsSeen      int               // number of rows that have arrived
	cached        bool              // whether groupOf is in use
	groupOf       []uint32          // by ordinal: the number of its group plus one; 0 if unknown
	groupedOrds   []uint32          // ordinals with a group in groupOf
	unkeyedRows   eval.Frame        // rows whose keys must be computed
	groupRows     eval.Frame        // groups to sort
	leadingGroups []uint32          // groups that can be among the first rows
	least         []int64           // memory for the heap of bound
}

// The groups of entities are cached once the number of rows that have arrived reaches
// 1/cacheAt of the number of a type's entities. The array for this has an element for each
// entity, which is too much memory for a few rows.
const cacheAt = 16

// newGrouper returns a grouper for the runs of a query.
func newGrouper(q *ir.Query) grouper { return grouper{sums: newAccumulators(q)} }

// begin empties the groups for a new run.
func (g *grouper) begin() {
	g.Grouped = 0
	clear(g.groups)
	if fault.On(fault.GroupsKept) {
		return
	}
	if len(g.groupedOrds) > len(g.groupOf)/8 {
		clear(g.groupOf)
	} else {
		for _, ord := range g.groupedOrds {
			g.groupOf[ord] = 0
		}
	}
	g.groupedOrds, g.rowsSeen, g.cached = g.groupedOrds[:0], 0, false
}

// ClearGroups empties the aggregates for the next run. It drops the values that the aggregates keep,
// because there may be one value for each row of the run.
func (g *grouper) ClearGroups() {
	for i := range g.sums {
		g.sums[i].Reset()
	}
}

// assign returns the group of each row of a frame. It creates groups that do not exist yet. The result is valid until
// the next call.
func (co *Collector) assign(f *eval.Frame) ([]uint32, error) {
	if cap(co.ids) < eval.FrameSize {
		co.ids = make([]uint32, eval.FrameSize)
	}
	ids := co.ids[:f.N]
	if !co.Keyed {
		clear(ids)
		if co.Grouped > 0 {
			return ids, nil
		}
		_, err := co.newGroup(f, 0, 0)
		return ids, err
	}
	if err := co.startCaching(f.N); err != nil {
		return nil, err
	}
	if co.cached {
		return ids, co.assignCached(f, ids)
	}
	return ids, co.assignByKey(f, nil, ids)
}

// assignCached finds the groups of a frame's rows by their entities. It computes the keys of the entities whose group is
// not cached, and caches the group.
func (co *Collector) assignCached(f *eval.Frame, ids []uint32) error {
	ords := f.Cols[co.By][:f.N]
	missing := co.Chosen[:0]
	for i, ord := range ords {
		if id := co.groupOf[ord]; id > 0 {
			ids[i] = id - 1
		} else {
			missing = append(missing, uint32(i))
		}
	}
	co.Chosen = missing
	if len(missing) == 0 {
		return nil
	}
	if !co.Whole {
		if err := co.assignByKey(co.rowsOf(&co.unkeyedRows, f, missing), missing, ids); err != nil {
			return err
		}
	}
	for _, i := range missing {
		ord := ords[i]
		if co.groupOf[ord] == 0 {
			if co.Whole { // the entity is the key
				var err error
				if ids[i], err = co.newGroup(f, int(i), 0); err != nil {
					return err
				}
			}
			co.groupOf[ord] = ids[i] + 1
			co.groupedOrds = append(co.groupedOrds, ord)
		}
		ids[i] = co.groupOf[ord] - 1
	}
	return nil
}

// startCaching decides whether the groups of entities are cached from now on.
func (co *Collector) startCaching(rows int) error {
	if co.cached || co.By == plan.NoVar {
		return nil
	}
	n := int(co.Table(co.By).Ordinals())
	if co.rowsSeen += rows; co.rowsSeen < n/cacheAt {
		return nil
	}
	if err := co.Spend(8 * n); err != nil {
		return err
	}
	co.cached = true
	if len(co.groupOf) < n {
		co.groupOf = make([]uint32, n)
	}
	if !co.Whole {
		return nil
	}
	for g, ord := range co.Rows.Cols[co.By][:co.Grouped] {
		co.groupOf[ord] = uint32(g) + 1
		co.groupedOrds = append(co.groupedOrds, ord)
	}
	return nil
}

// assignByKey finds the groups of a frame's rows by their keys. It stores the group of row
// i in ids[places[i]], or in ids[i] if places is nil.
func (co *Collector) assignByKey(f *eval.Frame, places, ids []uint32) error {
	for i := range co.Columns {
		if c := &co.Columns[i]; c.VariesByGroup() {
			co.Eval(c.Value, f)
		}
	}
	if co.groups == nil {
		co.groups = map[string]uint32{}
	}
	for i := range f.N {
		co.key = co.key[:0]
		for k := range co.Columns {
			if c := &co.Columns[k]; c.VariesByGroup() {
				co.key = appendGroupKey(co.key, &co.Vectors[c.Value.Slot], i)
			}
		}
		id, ok := co.groups[string(co.key)]
		if !ok {
			var err error
			if id, err = co.newGroup(f, i, len(co.key)); err != nil {
				return err
			}
			co.groups[string(co.key)] = id
		}
		if places != nil {
			ids[places[i]] = id
		} else {
			ids[i] = id
		}
	}
	return nil
}

// newGroup creates the group of row i. key is the length of its key in bytes.
func (co *Collector) newGroup(f *eval.Frame, i, key int) (uint32, error) {
	if err := co.Spend(key + 64 + 4*len(co.Keep) + 64*len(co.Aggs)); err != nil {
		return 0, err
	}
	for _, v := range co.Keep {
		co.Rows.Cols[v] = append(co.Rows.Cols[v], f.Cols[v][i])
	}
	co.Rows.N++
	co.addGroup()
	co.Grouped++
	return uint32(co.Grouped - 1), nil
}

// GroupWeighted adds each row of a frame to its group, counted as many times as its weight says.
// Each entity of the variable that the key depends on must occur only once in a run.
func (co *Collector) GroupWeighted(f *eval.Frame, weights []int64) error {
	if f.N == 0 {
		return nil
	}
	if co.Whole {
		if err := co.Spend(f.N * (64 + 4*len(co.Keep) + 64*len(co.Aggs))); err != nil {
			return err
		}
		for _, v := range co.Keep {
			co.Rows.Cols[v] = append(co.Rows.Cols[v], f.Cols[v][:f.N]...)
		}
		for k := range co.sums {
			co.sums[k].Counts = append(co.sums[k].Counts, weights...)
		}
		co.Rows.N += f.N
		co.Grouped += f.N
		return nil
	}
	ids, err := co.assign(f)
	if err != nil {
		return err
	}
	for k := range co.sums {
		counts := co.sums[k].Counts
		for i, id := range ids {
			counts[id] += weights[i]
		}
	}
	return nil
}

// rowsOf copies the given rows of a frame to out, for the variables that the result needs.
func (co *Collector) rowsOf(out, f *eval.Frame, rows []uint32) *eval.Frame {
	if out.Cols == nil {
		out.Cols = make([][]uint32, len(f.Cols))
	}
	for _, v := range co.Keep {
		col, from := slices.Grow(out.Cols[v][:0], len(rows))[:len(rows)], f.Cols[v]
		if len(from) == 0 {
			continue // the single group of aggregates over no rows
		}
		for i, r := range rows {
			col[i] = from[r]
		}
		out.Cols[v] = col
	}
	out.N = len(rows)
	return out
}

// sortGroups sorts the groups. Afterwards perm lists them; at least the first ones, up to
// the limit, are in order. The only possible errors are that of the context and a *engine.TooLarge.
func (co *Collector) sortGroups() error {
	groups, err := co.leading()
	if err != nil {
		return err
	}
	n := len(groups)
	co.Perm = slices.Grow(co.Perm[:0], n)[:n]
	if n < 2 {
		copy(co.Perm, groups)
		return nil
	}
	taken := n * (4 + entryBytes + SortKeyBytes*(len(co.Order)+len(co.Columns)))
	if err := co.Spend(taken); err != nil {
		return err
	}
	defer co.Spend(-taken)
	if err := co.Ctx.Err(); err != nil {
		return err
	}
	rows := co.rowsOf(&co.groupRows, &co.Rows, groups)
	rows.Groups = groups
	keys := co.sortBy[:0]
	for _, o := range co.Order {
		switch {
		case o.Agg >= 0:
			vec := &co.Vectors[co.Aggs[o.Agg].Slot]
			co.Result(o.Agg, groups, vec)
			keys = append(keys, SortKey{Vec: vec, Desc: o.Desc})
		case o.Expr.Kind != ir.ExprConst:
			keys = append(keys, SortKey{Vec: co.Eval(o.Expr, rows), Desc: o.Desc})
		}
	}
	for i := range co.Columns {
		if c := &co.Columns[i]; c.VariesByGroup() {
			keys = append(keys, SortKey{Vec: co.Eval(c.Value, rows)})
		}
	}
	if err := co.arrange(keys, n); err != nil {
		return err
	}
	for i, p := range co.Perm {
		co.Perm[i] = groups[p]
	}
	return nil
}

// leading returns the groups that can be within the limit according to the first sort key,
// if that key is a count. Counts are known without reading a property. For other keys it
// returns all groups.
func (co *Collector) leading() ([]uint32, error) {
	if len(co.Havings) > 0 {
		return co.leadingGroups, nil // see filterGroups
	}
	n := co.Grouped
	if err := co.Spend(4 * n); err != nil {
		return nil, err
	}
	defer co.Spend(-4 * n)
	groups := slices.Grow(co.leadingGroups[:0], n)
	defer func() { co.leadingGroups = groups }()
	limit := co.MaxRows
	if limit > 0 && limit < int64(n/4) && len(co.Order) > 0 && co.Order[0].Agg >= 0 && co.sums[co.Order[0].Agg].countsOnly() {
		counts, desc := co.sums[co.Order[0].Agg].Counts[:n], co.Order[0].Desc
		bound := co.bound(counts, int(limit), desc)
		for g, x := range counts {
			if x == bound || x > bound == desc {
				groups = append(groups, uint32(g))
			}
		}
		return groups, nil
	}
	for g := range n {
		groups = append(groups, uint32(g))
	}
	return groups, nil
}

// bound returns the k-th greatest number of x. If the argument `greatest` is false, it returns the
// k-th least.
func (co *Collector) bound(x []int64, k int, greatest bool) int64 {
	// heap holds the best k numbers so far, with the worst on top. To find the least numbers, use
	// their complements, because the order of complements is reversed.
	flip := int64(0)
	if !greatest {
		flip = -1
	}
	heap := append(co.least[:0], x[:k]...)
	co.least = heap
	for i := range heap {
		heap[i] ^= flip
	}
	down := func(i int) {
		for {
			c := 2*i + 1
			if c >= k {
				return
			}
			if c+1 < k && heap[c+1] < heap[c] {
				c++
			}
			if heap[i] <= heap[c] {
				return
			}
			heap[i], heap[c] = heap[c], heap[i]
			i = c
		}
	}
	for i := k/2 - 1; i >= 0; i-- {
		down(i)
	}
	for _, v := range x[k:] {
		if v ^= flip; v > heap[0] {
			heap[0] = v
			down(0)
		}
	}
	return heap[0] ^ flip
}
