package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// grouping describes the group key of a program's rows.
type grouping struct {
	keyed bool       // whether groups have a key
	by    plan.VarID // the only variable that the key depends on, or NoVar
	whole bool       // equal keys mean the same entity of by
}

// grouper finds the groups of a run's rows. If the key depends on only one variable,
// grouper computes the key once per entity, as soon as there are enough rows to be worth
// the memory.
type grouper struct {
	arrived  int
	remember bool
	groupOf  []uint32 // by ordinal: the number of its group plus one; 0 if unknown
	known    []uint32 // ordinals with a group in groupOf
	missing  frame    // rows whose keys must be computed
	weights  []int64
	shortcut frame    // groups to sort
	leaders  []uint32 // groups that can be among the first rows
	least    []int64
}

// rememberAt is the ratio of a type's entities to the rows that have arrived, from which
// the groups of entities are remembered. The array for this has an element for each entity,
// too much for a few rows.
const rememberAt = 16

// groupKey analyzes the key of a grouped read.
func (b *binder) groupKey() {
	g := &b.Program.grouping
	g.by = plan.NoVar
	single := true
	var props []int
	for i := range b.columns {
		c := &b.columns[i]
		if c.agg >= 0 || c.ex.kind == exprConst {
			continue
		}
		g.keyed = true
		if c.ex.kind != exprProp && c.ex.kind != exprID || g.by != plan.NoVar && g.by != c.ex.v {
			single = false
			continue
		}
		g.by = c.ex.v
		if c.ex.kind == exprID {
			g.whole = true
		} else {
			props = append(props, c.ex.prop)
		}
	}
	if !single {
		g.by = plan.NoVar
	}
	if g.by == plan.NoVar {
		g.whole = false
		return
	}
	key := b.types[g.by].Key
	g.whole = g.whole || len(key) > 0 && !slices.ContainsFunc(key, func(p int) bool { return !slices.Contains(props, p) })
}

func (g *grouper) begin() {
	if len(g.known) > len(g.groupOf)/8 {
		clear(g.groupOf)
	} else {
		for _, ord := range g.known {
			g.groupOf[ord] = 0
		}
	}
	g.known, g.arrived, g.remember = g.known[:0], 0, false
}

// assign returns the group of each row of a frame. It creates groups that do not exist yet.
func (st *state) assign(f *frame) ([]uint32, error) {
	if cap(st.scratch2) < frameSize {
		st.scratch2 = make([]uint32, frameSize)
	}
	ids := st.scratch2[:f.n]
	if !st.keyed {
		clear(ids)
		if st.grouped > 0 {
			return ids, nil
		}
		_, err := st.newGroup(f, 0, 0)
		return ids, err
	}
	if err := st.startRemembering(f.n); err != nil {
		return nil, err
	}
	if !st.remember {
		return ids, st.assignByKey(f, nil, ids)
	}
	ords := f.cols[st.by][:f.n]
	missing := st.chosen[:0]
	for i, ord := range ords {
		if id := st.groupOf[ord]; id > 0 {
			ids[i] = id - 1
		} else {
			missing = append(missing, uint32(i))
		}
	}
	st.chosen = missing
	if len(missing) == 0 {
		return ids, nil
	}
	if st.whole {
		for _, i := range missing {
			ord := ords[i]
			if st.groupOf[ord] == 0 {
				id, err := st.newGroup(f, int(i), 0)
				if err != nil {
					return nil, err
				}
				st.groupOf[ord] = id + 1
				st.known = append(st.known, ord)
			}
			ids[i] = st.groupOf[ord] - 1
		}
		return ids, nil
	}
	if err := st.assignByKey(st.rowsOf(&st.missing, f, missing), missing, ids); err != nil {
		return nil, err
	}
	for _, i := range missing {
		if ord := ords[i]; st.groupOf[ord] == 0 {
			st.groupOf[ord] = ids[i] + 1
			st.known = append(st.known, ord)
		}
	}
	return ids, nil
}

// startRemembering decides whether the groups of entities are remembered from now on.
func (st *state) startRemembering(rows int) error {
	if st.remember || st.by == plan.NoVar {
		return nil
	}
	n := int(st.table(st.by).Ordinals())
	if st.arrived += rows; st.arrived < n/rememberAt {
		return nil
	}
	if err := st.spend(8 * n); err != nil {
		return err
	}
	st.remember = true
	if len(st.groupOf) < n {
		st.groupOf = make([]uint32, n)
	}
	if !st.whole {
		return nil
	}
	for g, ord := range st.rows.cols[st.by][:st.grouped] {
		st.groupOf[ord] = uint32(g) + 1
		st.known = append(st.known, ord)
	}
	return nil
}

// assignByKey finds the groups of a frame's rows by their keys. It stores the group of row
// i in ids[places[i]], or in ids[i] if places is nil.
func (st *state) assignByKey(f *frame, places, ids []uint32) error {
	for i := range st.Program.columns {
		if c := &st.Program.columns[i]; c.agg < 0 && c.ex.kind != exprConst {
			st.eval(c.ex, f)
		}
	}
	if st.groups == nil {
		st.groups = map[string]uint32{}
	}
	for i := range f.n {
		st.key = st.key[:0]
		for k := range st.Program.columns {
			if c := &st.Program.columns[k]; c.agg < 0 && c.ex.kind != exprConst {
				st.key = appendGroupKey(st.key, &st.vecs[c.ex.slot], i)
			}
		}
		id, ok := st.groups[string(st.key)]
		if !ok {
			var err error
			if id, err = st.newGroup(f, i, len(st.key)); err != nil {
				return err
			}
			st.groups[string(st.key)] = id
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
func (st *state) newGroup(f *frame, i, key int) (uint32, error) {
	if err := st.spend(key + 64 + 4*len(st.keep) + 64*len(st.aggs)); err != nil {
		return 0, err
	}
	for _, v := range st.keep {
		st.rows.cols[v] = append(st.rows.cols[v], f.cols[v][i])
	}
	st.rows.n++
	st.addGroup()
	st.grouped++
	return uint32(st.grouped - 1), nil
}

// groupWeighted adds each row of a frame to its group, counted as often as its weight. Each
// entity of the variable that the key depends on must occur only once in a run.
func (st *state) groupWeighted(f *frame, weights []int64) error {
	if f.n == 0 {
		return nil
	}
	if st.whole {
		if err := st.spend(f.n * (64 + 4*len(st.keep) + 64*len(st.aggs))); err != nil {
			return err
		}
		for _, v := range st.keep {
			st.rows.cols[v] = append(st.rows.cols[v], f.cols[v][:f.n]...)
		}
		for k := range st.sums {
			st.sums[k].counts = append(st.sums[k].counts, weights...)
		}
		st.rows.n += f.n
		st.grouped += f.n
		return nil
	}
	ids, err := st.assign(f)
	if err != nil {
		return err
	}
	for k := range st.sums {
		counts := st.sums[k].counts
		for i, id := range ids {
			counts[id] += weights[i]
		}
	}
	return nil
}

// rowsOf copies the given rows of a frame to out, for the variables that the result needs.
func (st *state) rowsOf(out, f *frame, rows []uint32) *frame {
	if out.cols == nil {
		out.cols = make([][]uint32, len(f.cols))
	}
	for _, v := range st.keep {
		col, from := slices.Grow(out.cols[v][:0], len(rows))[:len(rows)], f.cols[v]
		for i, r := range rows {
			col[i] = from[r]
		}
		out.cols[v] = col
	}
	out.n = len(rows)
	return out
}

// sortGroups sorts the groups. Afterwards perm lists them; at least the first ones, up to
// the limit, are in order. The error is the context's, or a *engine.TooLarge.
func (st *state) sortGroups() error {
	groups, err := st.leading()
	if err != nil {
		return err
	}
	n := len(groups)
	st.perm = slices.Grow(st.perm[:0], n)[:n]
	if n < 2 {
		copy(st.perm, groups)
		return nil
	}
	taken := n * (4 + entryBytes + sortKeyBytes*(len(st.order)+len(st.Program.columns)))
	if err := st.spend(taken); err != nil {
		return err
	}
	defer st.spend(-taken)
	if err := st.ctx.Err(); err != nil {
		return err
	}
	rows := st.rowsOf(&st.shortcut, &st.rows, groups)
	keys := st.sortBy[:0]
	for _, o := range st.order {
		switch {
		case o.agg >= 0:
			vec := &st.vecs[st.aggs[o.agg].slot]
			st.result(o.agg, groups, vec)
			keys = append(keys, sortKey{vec: vec, desc: o.desc})
		case o.ex.kind != exprConst:
			keys = append(keys, sortKey{vec: st.eval(o.ex, rows), desc: o.desc})
		}
	}
	for i := range st.Program.columns {
		if c := &st.Program.columns[i]; c.agg < 0 && c.ex.kind != exprConst {
			keys = append(keys, sortKey{vec: st.eval(c.ex, rows)})
		}
	}
	if err := st.arrange(keys, n); err != nil {
		return err
	}
	for i, p := range st.perm {
		st.perm[i] = groups[p]
	}
	return nil
}

// leading returns the groups that can be within the limit according to the first sort key,
// if that key is a count. Counts are known without reading a property. For other keys it
// returns all groups.
func (st *state) leading() ([]uint32, error) {
	n := st.grouped
	if err := st.spend(4 * n); err != nil {
		return nil, err
	}
	defer st.spend(-4 * n)
	groups := slices.Grow(st.leaders[:0], n)
	defer func() { st.leaders = groups }()
	limit := st.read.Limit
	if limit > 0 && limit < int64(n/4) && len(st.order) > 0 && st.order[0].agg >= 0 && st.aggs[st.order[0].agg].fn == plan.Count {
		counts, desc := st.sums[st.order[0].agg].counts[:n], st.order[0].desc
		bound := st.bound(counts, int(limit), desc)
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

// bound returns the k-th greatest number of x, or the k-th least.
func (st *state) bound(x []int64, k int, greatest bool) int64 {
	// heap holds the best k numbers so far, with the worst on top. To find the least
	// numbers, use their complements, whose order is reversed.
	flip := int64(0)
	if !greatest {
		flip = -1
	}
	heap := append(st.least[:0], x[:k]...)
	st.least = heap
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
