package version

import (
	"context"
	"math/bits"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Excerpt is a snapshot without some of its entities.
type Excerpt struct {
	*Snapshot
	Of    *Snapshot  // the whole snapshot; an entity has the same ordinal in both
	nodes missing    // by node type, references included
	edges missing    // by edge type
	own   *Selection // the argument of Excerpt
}

// missing has a set of ordinals for each type, nil for none.
type missing []engine.Bitmap

// Selection lists entities by type, as sets of ordinals. Nil stands for none.
type Selection struct {
	Nodes []engine.Bitmap // by declared node type
	Edges []engine.Bitmap // by edge type
}

// NewSelection returns an empty selection of entities of a snapshot.
func NewSelection(s *Snapshot) *Selection {
	return &Selection{Nodes: make([]engine.Bitmap, s.Schema.Declared()), Edges: make([]engine.Bitmap, len(s.edges))}
}

// Set returns the set of a type, which the caller may replace.
func (h *Selection) Set(t *schema.Type) *engine.Bitmap {
	if t.Entity == plan.Edge {
		return &h.Edges[t.Index]
	}
	return &h.Nodes[t.Index]
}

// Excerpt returns s without the hidden entities and without the edges at hidden nodes. The argument `last` is an excerpt of an
// earlier state, or nil; the new one is derived from it where they have rows in common. The only possible error is that of the context.
func (s *Snapshot) Excerpt(ctx context.Context, hidden *Selection, last *Excerpt) (*Excerpt, error) {
	x := &Excerpt{Snapshot: s.Fork(), Of: s, nodes: make(missing, len(s.nodes)), edges: make(missing, len(s.edges)), own: hidden}
	x.Snapshot.nodes, x.Snapshot.edges = slices.Clone(s.nodes), slices.Clone(s.edges)
	if last != nil && last.Schema != s.Schema {
		last = nil
	}
	copy(x.nodes, hidden.Nodes)
	for _, t := range s.Schema.Nodes[s.Schema.Declared():] {
		x.nodes[t.Index] = x.lostReferences(t)
	}
	owner := new(index.Owner)
	var err error
	for i, t := range s.nodes {
		if x.Snapshot.nodes[i], err = t.without(ctx, x.nodes[i], owner, last.made(plan.Node, i)); err != nil {
			return nil, err
		}
	}
	for i, t := range s.edges {
		if x.edges[i], err = x.lostEdges(ctx, t, last); err != nil {
			return nil, err
		}
		if x.Snapshot.edges[i], err = t.without(ctx, x.edges[i], owner, last.made(plan.Edge, i)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Hidden returns the entities that the excerpt was made without, apart from the edges at hidden nodes.
func (x *Excerpt) Hidden() *Selection { return x.own }

// Bytes returns roughly the memory in bytes that the excerpt needs beside its whole snapshot and the other excerpts.
func (x *Excerpt) Bytes(others []*Excerpt) (n int64) {
	whole := x.Of.Tables()
	counted := make([][]*Table, len(whole)) // by type, the tables whose memory is not that of x
	for i, t := range whole {
		counted[i] = []*Table{t}
	}
	for _, other := range others {
		if other.Schema != x.Schema {
			continue
		}
		for i, t := range other.Snapshot.Tables() {
			counted[i] = append(counted[i], t)
		}
	}
	for i, t := range x.Snapshot.Tables() {
		if slices.Contains(counted[i], t) {
			continue
		}
		var out, in []*index.Adjacency
		for _, c := range counted[i] {
			out, in = append(out, &c.out), append(in, &c.in)
		}
		n += 4*int64(t.next) + 8*int64(len(t.alive)+len(t.home)) + t.out.Bytes(out...) + t.in.Bytes(in...)
		if len(t.listed) > 0 && &t.listed[0] != &t.alive[0] {
			n += 8 * int64(len(t.listed))
		}
	}
	return n
}

// made is a table of an excerpt. The zero value stands for none.
type made struct {
	of, table *Table // the table of the whole snapshot, and that of the excerpt
	gone      engine.Bitmap
}

// made returns the table of type i of an entity kind.
func (x *Excerpt) made(e plan.Entity, i int) made {
	switch {
	case x == nil:
		return made{}
	case e == plan.Edge:
		return made{x.Of.edges[i], x.Snapshot.edges[i], x.edges[i]}
	}
	return made{x.Of.nodes[i], x.Snapshot.nodes[i], x.nodes[i]}
}

// without returns a table without some entities. The argument `last` is a result for an earlier state. The only
// possible error is that of the context.
func (t *Table) without(ctx context.Context, gone engine.Bitmap, owner *index.Owner, last made) (*Table, error) {
	if gone == nil {
		return t, nil
	}
	if t == last.of && slices.Equal(gone, last.gone) {
		return last.table, nil
	}
	table, before := *t, last.table
	if before != nil && sharedRows(before, t) == before.base+uint32(len(before.tail)) {
		table.texts = before.texts.next() // closer to this table than t.texts is
	} else {
		table.texts = t.texts.next()
	}
	table.alive, table.moved = t.aliveSet(), nil
	for ord := range Ordinals(gone) {
		if table.alive.Get(int(ord)) {
			table.alive.Clear(int(ord))
			table.rows.Set(owner, ord, index.Dead)
			table.live--
		}
	}
	moved := make([]uint32, 1024)
	// The error is always nil.
	_ = t.Moved(moved, func(ords []uint32) error {
		for _, ord := range ords {
			if table.alive.Get(int(ord)) {
				table.moved = append(table.moved, ord)
			}
		}
		return nil
	})
	slices.Sort(table.moved)
	table.home = slices.Clone(table.alive)
	for _, ord := range table.moved {
		table.home.Clear(int(ord))
	}
	if t.Type.Entity == plan.Edge {
		if err := table.keepEdges(ctx, table.alive, last); err != nil {
			return nil, err
		}
	}
	return &table, nil
}

// keepEdges removes the edges that are not live from the bases. The argument `last` is the table of an earlier excerpt. If only a few edges of the
// same bases have died since its bases were made, keepEdges shares these, because to make new ones takes time in proportion to all edges.
func (x *Indexes) keepEdges(ctx context.Context, alive engine.Bitmap, last made) (err error) {
	if last.of != nil && last.table.listed != nil && x.out.SameBase(&last.of.out) && x.in.SameBase(&last.of.in) {
		dead, share := deadListed(last.table.listed, alive, max(x.out.BaseEdges(), x.in.BaseEdges()))
		if fault.On(fault.KeptBaseStale) {
			dead, share = 0, true
		}
		if share {
			x.out, x.in = x.out.WithBase(&last.table.out), x.in.WithBase(&last.table.in)
			x.kept, x.listed = dead == 0, last.table.listed
			return nil
		}
	}
	if x.out, err = x.out.Keep(ctx, alive); err != nil {
		return err
	}
	if x.in, err = x.in.Keep(ctx, alive); err != nil {
		return err
	}
	x.kept, x.listed = true, alive
	return nil
}

// maxDeadListed is the greatest share of the edges in shared bases that may be dead, as a divisor. Their number is rounded up.
const maxDeadListed = 16

// deadListed returns how many of the listed edges below n are dead, and whether bases with the listed edges can be shared: they have all live edges
// below n, and few dead ones. Both sets have at least n numbers.
func deadListed(listed, alive engine.Bitmap, n uint32) (dead int, share bool) {
	all := 0
	for i := range (n + 63) / 64 {
		mask := ^uint64(0)
		if rest := n - i*64; rest < 64 {
			mask = 1<<rest - 1
		}
		was, is := listed[i]&mask, alive[i]&mask
		if is&^was != 0 {
			return 0, false
		}
		all += bits.OnesCount64(was)
		dead += bits.OnesCount64(was &^ is)
	}
	return dead, dead <= (all+maxDeadListed-1)/maxDeadListed
}

// aliveSet returns the set of the live entities.
func (t *Entities) aliveSet() engine.Bitmap {
	set := engine.NewBitmap(int(t.next))
	for i := range set {
		set[i] = ^uint64(0)
	}
	if n := t.next % 64; n != 0 {
		set[t.next/64] = 1<<n - 1
	}
	for first, page := range t.rows.All {
		for i, row := range page {
			if ord := first + uint32(i); row == index.Dead && ord < t.next {
				set.Clear(int(ord))
			}
		}
	}
	return set
}

// lostReferences returns the references of a type to hidden nodes.
func (x *Excerpt) lostReferences(t *schema.Type) (gone engine.Bitmap) {
	table := x.Of.nodes[t.Index]
	if !slices.ContainsFunc(x.Of.Schema.NodeTypes(), func(n *schema.Type) bool { return x.nodes[n.Index] != nil && t.Of != nil && t.Implements(n) }) {
		return nil
	}
	for ord := range table.next {
		if !table.Alive(ord) {
			continue
		}
		node, at := x.Of.Referent(t, ord)
		if set := x.nodes[node.Index]; set != nil && set.Get(int(at)) {
			if gone == nil {
				gone = engine.NewBitmap(int(table.next))
			}
			gone.Set(int(ord))
		}
	}
	return gone
}

// lostEdges returns the edges of a table that are hidden or have a hidden end.
func (x *Excerpt) lostEdges(ctx context.Context, t *Table, last *Excerpt) (engine.Bitmap, error) {
	own, from, to := x.own.Edges[t.Type.Index], x.nodes[t.Type.From], x.nodes[t.Type.To]
	if from == nil && to == nil {
		return own, nil
	}
	lost := func(ord uint32) bool {
		if own != nil && own.Get(int(ord)) {
			return true
		}
		src, dst := t.Ends(ord)
		return from != nil && from.Get(int(src)) || to != nil && to.Get(int(dst))
	}
	gone := engine.NewBitmap(int(t.next))
	if last == nil || last.edges[t.Type.Index] == nil {
		for ord := range t.next {
			if ord%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if t.Alive(ord) && lost(ord) {
				gone.Set(int(ord))
			}
		}
		return gone, nil
	}
	copy(gone, last.edges[t.Type.Index])
	check := func(ord uint32) {
		if !t.Alive(ord) {
			return
		}
		switch {
		case lost(ord):
			gone.Set(int(ord))
		case !fault.On(fault.OnceHidden):
			gone.Clear(int(ord))
		}
	}
	if err := eachChangedRow(ctx, last.Of.edges[t.Type.Index], t, func(ord, _, _ uint32) { check(ord) }); err != nil {
		return nil, err
	}
	for ord := range differing(own, last.own.Edges[t.Type.Index]) {
		check(ord)
	}
	for _, side := range []struct {
		end       int
		adjacency *index.Adjacency
	}{{t.Type.From, &t.out}, {t.Type.To, &t.in}} {
		end, adjacency := side.end, side.adjacency
		for node := range differing(x.nodes[end], last.nodes[end]) {
			if fault.On(fault.EndsUnchecked) {
				break
			}
			for _, edge := range LiveEdges(t, adjacency, node) {
				check(edge)
			}
		}
	}
	return gone, nil
}

// Ordinals yields the numbers in a set, in order.
func Ordinals(set engine.Bitmap) func(yield func(ord uint32) bool) {
	return func(yield func(ord uint32) bool) {
		for i, word := range set {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// differing yields the numbers that are in one of two sets only.
func differing(a, b engine.Bitmap) func(yield func(ord uint32) bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	return func(yield func(ord uint32) bool) {
		for i, word := range a {
			if i < len(b) {
				word ^= b[i]
			}
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// Changed yields the ordinals of the entities of a type that are new in s or whose row may differ from that in `was`, a state with
// the same schema. The only possible error is that of the context.
func (s *Snapshot) Changed(ctx context.Context, was *Snapshot, t *schema.Type, yield func(ord uint32)) error {
	return eachChangedRow(ctx, was.Table(t.Entity, t.Index), s.Table(t.Entity, t.Index), func(ord, _, y uint32) {
		if y != index.Dead {
			yield(ord)
		}
	})
}

// Defer makes Check and Violations find nothing. It is for a transaction on an excerpt, whose rules concern the whole state; see [Txn.Follow].
func (tx *Txn) Defer() { tx.deferred = true }

// Follow applies the changes that another transaction made on an excerpt of the base of tx. An entity that existed before keeps its values of
// the properties that the function `hides` names, because the caller does not know of them. If an edge that the excerpt hides would lose
// a node, Follow deletes it if the function `cascades` permits this for its type; otherwise the error is an *engine.NotAllowed. If a new entity has the
// id of a hidden one, the error is an *engine.KeyConflict.
func (tx *Txn) Follow(on *Txn, seen *Excerpt, hides func(t *schema.Type) map[int]bool, cascades func(edge *schema.Type) bool) error {
	for _, list := range [][]*edit{on.nodes, on.edges} {
		for _, e := range list {
			if e == nil {
				continue
			}
			whole := seen.Of.Table(e.Type.Entity, e.Type.Index)
			on.keepHidden(e, hides(e.Type))
			for ord := range e.eachTouched {
				switch {
				case e.Alive(ord) && !e.before.Alive(ord):
					if at, ok := whole.Lookup(e.ID(ord)); ok && !e.before.Alive(at) {
						_, id := e.Type.Label(e.ID(ord))
						return &engine.KeyConflict{Entity: e.Type.Entity.String(), Type: e.Type.Name, ID: id}
					}
				case !e.Alive(ord) && e.before.Alive(ord) && e.Type.Entity == plan.Node:
					if err := tx.loseHidden(e, ord, seen, cascades); err != nil {
						return err
					}
				}
			}
		}
	}
	return tx.ApplyOps(on.AppendOps(nil))
}

// keepHidden gives the entities of a table that existed before the transaction their earlier values of some properties.
func (tx *Txn) keepHidden(e *edit, hidden map[int]bool) {
	if len(hidden) == 0 {
		return
	}
	for _, ord := range e.sortedTouched() {
		was, ok := uint32(0), e.Alive(ord)
		if ok {
			was, ok = e.before.Lookup(e.ID(ord))
		}
		if !ok {
			continue
		}
		vals, lost := e.Values(ord), false
		for p := range hidden {
			if v := e.before.Value(was, p); !value.Equal(vals[p], v) {
				vals[p], lost = v, true
			}
		}
		if lost {
			src, dst := uint32(0), uint32(0)
			if e.Type.Entity == plan.Edge {
				src, dst = e.Ends(ord)
			}
			row := Row{ID: e.ID(ord), Src: src, Dst: dst, Vals: vals, Claims: e.Claims(ord)}
			row.Stamp = tx.since(e.before, was, true, &row)
			e.replace(ord, row.detached())
		}
	}
}

// loseHidden deletes the hidden edges at a node that another transaction has deleted.
func (tx *Txn) loseHidden(e *edit, ord uint32, seen *Excerpt, cascades func(edge *schema.Type) bool) (err error) {
	tx.eachEdge(e.Type, ord, func(t *schema.Type, edge uint32) {
		switch {
		case seen.Table(plan.Edge, t.Index).Alive(edge) || err != nil:
		case cascades(t):
			tx.edit(t).delete(edge)
		default:
			name, id := e.Type.Label(e.before.ID(ord))
			err = &engine.NotAllowed{Entity: plan.Node.String(), Type: name, ID: id, Reason: "it has edges that you may not change"}
		}
	})
	return err
}

// EachChanged yields the declared entities that the transaction has changed: their type and ordinal, and whether they exist before and after
// the transaction.
func (tx *Txn) EachChanged(yield func(t *schema.Type, ord uint32, was, is bool) error) error {
	for _, list := range [][]*edit{tx.nodes[:tx.base.Schema.Declared()], tx.edges} {
		for _, e := range list {
			if e == nil {
				continue
			}
			for ord := range e.eachTouched {
				if !e.changed(ord) {
					continue
				}
				if err := yield(e.Type, ord, e.before.Alive(ord), e.Alive(ord)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
