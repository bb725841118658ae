package exec

import (
	"slices"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// walk is a set of ordinals that is emptied by what was put in.
type walk struct {
	bits    engine.Bitmap
	visited []uint32
}

func (w *walk) begin(n uint32) {
	for _, v := range w.visited {
		w.bits.Clear(int(v))
	}
	w.visited = w.visited[:0]
	if words := (int(n) + 63) / 64; len(w.bits) < words {
		w.bits = make(engine.Bitmap, words)
	}
}

// visit adds an ordinal and reports whether it was missing.
func (w *walk) visit(ord uint32) bool {
	if w.bits.Get(int(ord)) {
		return false
	}
	w.bits.Set(int(ord))
	w.visited = append(w.visited, ord)
	return true
}

// hop is one direction of an edge type.
type hop struct {
	edges *version.Table
	adj   *index.Adjacency
	alive bool // every listed edge is
}

func (st *state) hops(edge int, out, in bool) (hops [2]hop, n int) {
	t := st.snap.Edges(edge)
	if out {
		hops[n] = hop{t, t.Out(), t.AllLive()}
		n++
	}
	if in {
		hops[n] = hop{t, t.In(), t.AllLive()}
		n++
	}
	return hops, n
}

// traverse is what expansions, checks and walks have in common.
type traverse struct {
	plan.Traverse
	edge int
	back bool         // it leads from the target to the source
	from plan.VarID   // the bound end
	to   plan.VarID   // the other
	vars []plan.VarID // bound before
	id   int
}

func (b *binder) traverse(s *scope, t plan.Traverse, back bool) traverse {
	tr := traverse{Traverse: t, edge: b.schema.Type(plan.Edge, t.Edge).Index, back: back, from: t.From, to: t.To, vars: slices.Clone(s.vars), id: b.frame()}
	if back {
		tr.from, tr.to = t.To, t.From
	}
	return tr
}

// far reports whether the traversal is a walk of more than one hop.
func (t *traverse) far() bool { return t.Min != 1 || t.Max != 1 }

// addExpand binds the other end of a traversal.
func (b *binder) addExpand(s *scope, t plan.Traverse, back bool) {
	tr := b.traverse(s, t, back)
	if tr.far() {
		s.pipe.steps = append(s.pipe.steps, &reach{tr, false, 0})
	} else {
		s.pipe.steps = append(s.pipe.steps, &expand{tr})
	}
	s.bind(tr.to)
	s.bind(t.EdgeVar)
}

// check returns the step for a traversal whose ends are both bound.
func (b *binder) check(s *scope, t plan.Traverse) step {
	tr := b.traverse(s, t, false)
	if tr.far() {
		return &reach{tr, true, b.frame()}
	}
	return &check{tr}
}

// expand follows the edges of a node.
type expand struct{ traverse }

func (s *expand) run(st *state, p *pipe, at int, f *frame) error {
	out := st.frame(s.id, s.vars)
	st.room(out, s.to, s.EdgeVar)
	hops, n := st.hops(s.edge, s.Undirected || !s.back, s.Undirected || s.back)
	plain := n == 1 && hops[0].adj.Simple() || s.EdgeVar != plan.NoVar
	add := func(i int, edge, other uint32) error {
		out.copyRow(f, i, s.vars)
		out.cols[s.to][out.n] = other
		if s.EdgeVar != plan.NoVar {
			out.cols[s.EdgeVar][out.n] = edge
		}
		if out.n++; out.n < frameSize {
			return nil
		}
		return st.flush(p, at, out)
	}
	seen := &st.walks[s.id]
	for i := range f.n {
		if f.settled(i) {
			continue
		}
		node := f.cols[s.from][i]
		if !plain {
			seen.begin(st.table(s.to).Ordinals())
		}
		for k, h := range hops[:n] {
			edges, others := h.adj.Base(node)
			if err := st.tick(1 + len(edges)); err != nil {
				return err
			}
			for j, e := range edges {
				if !h.alive && !h.edges.Alive(e) || k == 1 && s.EdgeVar != plan.NoVar && others[j] == node {
					continue
				}
				if !plain && !seen.visit(others[j]) {
					continue
				}
				if err := add(i, e, others[j]); err != nil {
					return err
				}
				if f.settled(i) {
					break
				}
			}
			for o := h.adj.Over(node); o != nil; o = o.Next {
				if !h.alive && !h.edges.Alive(o.Edge) || k == 1 && s.EdgeVar != plan.NoVar && o.Other == node {
					continue
				}
				if !plain && !seen.visit(o.Other) {
					continue
				}
				if err := add(i, o.Edge, o.Other); err != nil {
					return err
				}
			}
		}
	}
	return st.flush(p, at, out)
}

// room makes columns for variables that a step binds.
func (st *state) room(out *frame, vars ...plan.VarID) {
	for _, v := range vars {
		if v == plan.NoVar {
			continue
		}
		if cap(out.cols[v]) < frameSize {
			out.cols[v] = make([]uint32, frameSize)
		}
		out.cols[v] = out.cols[v][:frameSize]
	}
}

// check keeps the rows whose two nodes are joined by an edge; with an edge variable
// it binds each such edge.
type check struct{ traverse }

func (s *check) run(st *state, p *pipe, at int, f *frame) error {
	hops, n := st.hops(s.edge, true, s.Undirected)
	if s.EdgeVar == plan.NoVar {
		rows := st.chosen[:0]
		for i := range f.n {
			if err := st.tick(1); err != nil {
				return err
			}
			a, b := f.cols[s.From][i], f.cols[s.To][i]
			for _, h := range hops[:n] {
				if joined(h, a, b, nil) {
					rows = append(rows, uint32(i))
					break
				}
			}
		}
		st.chosen = rows
		f.choose(rows, s.vars)
		return st.push(p, at+1, f)
	}
	out := st.frame(s.id, s.vars)
	st.room(out, s.EdgeVar)
	var err error
	for i := range f.n {
		if f.settled(i) {
			continue
		}
		if err := st.tick(1); err != nil {
			return err
		}
		a, b := f.cols[s.From][i], f.cols[s.To][i]
		for k, h := range hops[:n] {
			if k == 1 && a == b {
				break
			}
			joined(h, a, b, func(edge uint32) bool {
				out.copyRow(f, i, s.vars)
				out.cols[s.EdgeVar][out.n] = edge
				if out.n++; out.n == frameSize {
					err = st.flush(p, at, out)
				}
				return err == nil
			})
			if err != nil {
				return err
			}
		}
	}
	return st.flush(p, at, out)
}

// joined reports whether a live edge joins two nodes, and hands each such edge to
// yield, if it is set, until that returns false.
func joined(h hop, a, b uint32, yield func(edge uint32) bool) bool {
	any := false
	edges, others := h.adj.Base(a)
	at := sort.Search(len(others), func(i int) bool { return others[i] >= b })
	for ; at < len(others) && others[at] == b; at++ {
		if h.alive || h.edges.Alive(edges[at]) {
			if any = true; yield == nil || !yield(edges[at]) {
				return true
			}
		}
	}
	for o := h.adj.Over(a); o != nil; o = o.Next {
		if o.Other == b && (h.alive || h.edges.Alive(o.Edge)) {
			if any = true; yield == nil || !yield(o.Edge) {
				return true
			}
		}
	}
	return any
}

// reach walks breadth first from a node. With both ends bound it keeps the rows whose
// other node is reached; else it binds the nodes that are.
type reach struct {
	traverse
	both bool
	set  int // the walk that holds the nodes within the bounds
}

func (s *reach) run(st *state, p *pipe, at int, f *frame) error {
	w, within := &st.walks[s.id], &st.walks[s.set]
	var reached []uint32
	last := version.NoOrd
	out := f
	rows := st.chosen[:0]
	if !s.both {
		out = st.frame(s.id, s.vars)
		st.room(out, s.to)
	}
	for i := range f.n {
		if f.settled(i) {
			continue
		}
		node := f.cols[s.from][i]
		if node != last {
			var err error
			if reached, err = st.breadthFirst(&s.traverse, node, w, reached[:0]); err != nil {
				return err
			}
			last = node
			if s.both {
				within.begin(st.table(s.to).Ordinals())
				for _, r := range reached {
					within.visit(r)
				}
			}
		}
		if s.both {
			if within.bits.Get(int(f.cols[s.to][i])) {
				rows = append(rows, uint32(i))
			}
			continue
		}
		for _, r := range reached {
			out.copyRow(f, i, s.vars)
			out.cols[s.to][out.n] = r
			if out.n++; out.n == frameSize {
				if err := st.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	if s.both {
		st.chosen = rows
		f.choose(rows, s.vars)
		return st.push(p, at+1, f)
	}
	return st.flush(p, at, out)
}

// breadthFirst appends the nodes whose distance from a node lies within the bounds.
func (st *state) breadthFirst(s *traverse, from uint32, w *walk, reached []uint32) ([]uint32, error) {
	most := s.Max - hopsLost
	if s.From != s.To && st.types[s.From] != st.types[s.To] {
		most = min(most, 1) // an edge of the type never follows another
	}
	hops, n := st.hops(s.edge, s.Undirected || !s.back, s.Undirected || s.back)
	w.begin(st.table(s.to).Ordinals())
	// w.visited lists the nodes in the order of their distance: it is the queue too.
	first := 0
	for d := 1; d <= most; d++ {
		level := len(w.visited)
		expand := func(node uint32) error {
			for _, h := range hops[:n] {
				edges, others := h.adj.Base(node)
				if err := st.tick(1 + len(edges)); err != nil {
					return err
				}
				for j, e := range edges {
					if h.alive || h.edges.Alive(e) {
						w.visit(others[j])
					}
				}
				for o := h.adj.Over(node); o != nil; o = o.Next {
					if h.alive || h.edges.Alive(o.Edge) {
						w.visit(o.Other)
					}
				}
			}
			return nil
		}
		if d == 1 {
			if err := expand(from); err != nil {
				return reached, err
			}
		} else {
			for k := first; k < level; k++ {
				if err := expand(w.visited[k]); err != nil {
					return reached, err
				}
			}
			first = level
		}
		if d >= s.Min {
			reached = append(reached, w.visited[level:]...)
		}
		if len(w.visited) == level {
			break
		}
	}
	return reached, nil
}
