package exec

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// pipe is a sequence of steps. Each step pushes frames of rows to the next one.
type pipe struct {
	steps  []step
	inner  bool    // belongs to a not block
	counts counter // the last step, if the read only counts its rows; else nil
	// estimates holds the estimated number of rows that each step yields, for Explain.
	estimates []float64
}

// pipe arranges the clauses of a block into steps. outer is the scope around a not block;
// it is nil for the match.
func (b *binder) pipe(clauses []plan.Clause, outer *scope) (*pipe, error) {
	s := b.scope(outer)
	for _, c := range clauses {
		b.step(1)
		switch c := c.(type) {
		case plan.Bind:
			s.want(c.Var)
		case plan.Traverse:
			s.want(c.From)
			s.want(c.To)
			s.want(c.EdgeVar)
			if t := b.schema.Type(plan.Edge, c.Edge); t == nil {
				return nil, mismatch("there is no edge type %s", c.Edge)
			} else if b.types[c.From].Index != t.From || b.types[c.To].Index != t.To {
				return nil, mismatch("edge %s does not lead from %s to %s", t.Name, b.types[c.From].Name, b.types[c.To].Name)
			}
			s.traverses = append(s.traverses, c)
		case plan.Filter:
			s.filter(c.Cond)
		case plan.Not:
			s.nots = append(s.nots, c)
		}
	}
	for {
		if err := b.settle(s); err != nil {
			return nil, err
		}
		if len(s.unbound) == 0 {
			break
		}
		if err := b.extend(s); err != nil {
			return nil, err
		}
	}
	if len(s.filters)+len(s.nots)+len(s.traverses) > 0 {
		return nil, mismatch("a clause uses a variable that nothing binds")
	}
	return s.pipe, nil
}

// settle adds the steps that only remove rows: filters, traversals between bound variables,
// and not blocks. It adds each one as soon as its variables are bound.
func (b *binder) settle(s *scope) error {
	var conds []*cond
	share := 1.0
	left := s.filters[:0]
	for _, w := range s.filters {
		b.step(1)
		if w.done {
			continue
		}
		if w.unbound > 0 {
			left = append(left, w)
			continue
		}
		bc, err := b.cond(w.cond)
		if err != nil {
			return err
		}
		w.done = true
		if id := b.idCond(bc); id != nil {
			id.vars = slices.Clip(s.vars)
			s.pipe.steps = append(s.pipe.steps, id)
			kept := 1.0
			if !id.not {
				kept = 1 / max(1, float64(b.live(id.v)))
			}
			s.expect(kept)
			continue
		}
		share *= shareOf(w.cond)
		conds = append(conds, bc)
	}
	s.filters = left
	if conds != nil {
		// Test texts last, because reading them costs the most.
		slices.SortStableFunc(conds, func(a, b *cond) int { return a.weight() - b.weight() })
		s.pipe.steps = append(s.pipe.steps, &filter{conds: conds, vars: slices.Clip(s.vars)})
	}
	s.expect(share)
	open := s.traverses[:0]
	for i, t := range s.traverses {
		b.step(1)
		if !s.bound(t.From) || !s.bound(t.To) {
			open = append(open, t)
			continue
		}
		s.pipe.steps = append(s.pipe.steps, b.check(s, t))
		s.expect(b.fanout(t, false) / max(1, float64(b.live(t.To))))
		if t.EdgeVar != plan.NoVar {
			s.traverses = append(open, s.traverses[i+1:]...)
			s.bind(t.EdgeVar)
			return b.settle(s) // the filters on the edge variable may be ready
		}
	}
	s.traverses = open
	var nots []plan.Not
	for _, n := range s.nots {
		if b.waits(s, n.Match) {
			nots = append(nots, n)
			continue
		}
		inner, err := b.pipe(n.Match, s)
		if err != nil {
			return err
		}
		var out step = &anti{inner: inner, vars: slices.Clip(s.vars), id: b.frame()}
		if len(inner.steps) == 1 {
			if c, ok := inner.steps[0].(*check); ok && c.EdgeVar == plan.NoVar {
				c.not = true
				out = c
			}
		}
		s.pipe.steps = append(s.pipe.steps, out)
		s.expect(notShare)
	}
	s.nots = nots
	return nil
}

// waits reports whether a not block uses variables of the surrounding block that are not
// bound yet. The not block binds its other variables itself.
func (b *binder) waits(s *scope, clauses []plan.Clause) bool {
	if len(s.unbound) == 0 {
		return false
	}
	waits := false
	use := func(v plan.VarID) { waits = waits || v != plan.NoVar && s.places[v] == wantedHere }
	for _, c := range clauses {
		b.step(1)
		switch c := c.(type) {
		case plan.Bind:
			use(c.Var)
		case plan.Traverse:
			use(c.From)
			use(c.To)
			use(c.EdgeVar)
		case plan.Filter:
			usesCond(c.Cond, use)
		case plan.Not:
			waits = waits || b.waits(s, c.Match)
		}
		if waits {
			return true
		}
	}
	return false
}

// The estimated shares of rows that conditions keep.
const (
	textShare  = 0.05 // of entities whose text matches
	equalShare = 0.05 // of rows where one value equals another
	otherShare = 0.3  // of rows where another comparison is true
	notShare   = 0.5  // of rows for which a not block has no match
)

// shareOf estimates the share of rows that a condition keeps.
func shareOf(c plan.Cond) float64 {
	if cmp, ok := c.(plan.Compare); ok && cmp.Op == plan.Eq {
		return equalShare
	}
	return otherShare
}

// extend adds the cheapest step that binds a variable.
func (b *binder) extend(s *scope) error {
	best, cost, rows := func() error { return nil }, math.Inf(1), 1.0
	// The cost of an offer is the number of rows that remain after the filters that follow
	// it. times is the number of rows that it makes of one row.
	offer := func(c, times float64, add func() error) {
		if c < cost {
			best, cost, rows = add, c, times
		}
	}
	for _, v := range s.unbound {
		if b.types[v].Entity == plan.Edge {
			continue
		}
		live := float64(b.live(v))
		if l := b.lookup(s, v); l != nil {
			offer(1, 1, func() error { return b.addLookup(s, l) })
		}
		if p := b.probe(s, v); p != nil {
			offer(2+live/100, live*math.Pow(equalShare, float64(len(p.srcs))), func() error { return b.addProbe(s, p) })
		}
		if m, ok := b.textFilter(s, v); ok {
			offer(4+live*textShare, live*textShare, func() error { return b.addTextScan(s, v, m) })
		}
		sel := b.selectivity(s, v)
		if r := b.sorted(s, v); r != nil {
			offer(3+live*sel, live*sel, func() error { return b.addSorted(s, r) })
		}
		offer(4+live*sel, live, func() error {
			s.pipe.steps = append(s.pipe.steps, &scan{v: v, id: b.frame(), vars: slices.Clip(s.vars)})
			s.bind(v)
			return nil
		})
	}
	for i, t := range s.traverses {
		b.step(1)
		take := func() { s.traverses = slices.Delete(s.traverses, i, i+1) }
		if t.EdgeVar != plan.NoVar && !s.bound(t.EdgeVar) {
			if l := b.lookup(s, t.EdgeVar); l != nil {
				offer(1, 1, func() error { take(); return b.addEdgeLookup(s, t, l) })
			}
		}
		if s.bound(t.From) == s.bound(t.To) {
			continue
		}
		to, back := t.To, false
		if s.bound(t.To) {
			to, back = t.From, true
		}
		fanout := b.fanout(t, back)
		offer(fanout*b.selectivity(s, to), fanout, func() error { take(); b.addExpand(s, t, back); return nil })
	}
	if math.IsInf(cost, 1) {
		return mismatch("nothing binds $%s", b.read.Vars[s.unbound[0]].Name)
	}
	if err := best(); err != nil {
		return err
	}
	s.expect(rows)
	return nil
}

func (b *binder) live(v plan.VarID) uint32 {
	return b.snap.Table(b.types[v].Entity, b.types[v].Index).Live()
}

// fanout estimates the number of nodes that a traversal reaches from one node.
func (b *binder) fanout(t plan.Traverse, back bool) float64 {
	et := b.schema.Type(plan.Edge, t.Edge)
	edges := float64(b.snap.Edges(et.Index).Live())
	from := t.From
	if back {
		from = t.To
	}
	n := edges / max(1, float64(b.live(from)))
	if t.Undirected {
		n *= 2
	}
	to := t.To
	if back {
		to = t.From
	}
	most := float64(b.live(to))
	total := n
	for d := 1; d < t.Max && total < most; d++ {
		total += math.Pow(n, float64(d+1))
	}
	if t.EdgeVar == plan.NoVar {
		total = min(total, most)
	}
	return total
}

// selectivity estimates the share of a variable's entities that its filters keep.
func (b *binder) selectivity(s *scope, v plan.VarID) float64 {
	sel := 1.0
	for w := range b.filtersOn(s, v) {
		if w.unbound == 1 {
			sel *= shareOf(w.cond)
		}
	}
	if b.lookup(s, v) != nil {
		sel = min(sel, 1/max(1, float64(b.live(v))))
	}
	return sel
}

// frame reserves a frame for a step and returns its number.
func (b *binder) frame() int {
	b.frames++
	return b.frames - 1
}

// equals finds a filter that requires an expression of v to equal another expression, of type
// want that is constant or bound, in every run.
func (b *binder) equals(s *scope, v plan.VarID, left func(plan.Expr) bool, want value.Kind) (other plan.Expr, ok bool) {
	for w := range b.filtersOn(s, v) {
		cmp, ok := w.cond.(plan.Compare)
		if !ok || cmp.Op != plan.Eq || cmp.Unless != plan.NoParam {
			continue
		}
		for _, side := range [2][2]plan.Expr{{cmp.Left, cmp.Right}, {cmp.Right, cmp.Left}} {
			if !left(side[0]) || !b.typeOf(side[1]).Equal(value.Of(want)) {
				continue
			}
			bound := true
			uses(side[1], func(v plan.VarID) { bound = bound && s.bound(v) })
			if bound {
				return side[1], true
			}
		}
	}
	return nil, false
}

// typeOf returns the type that an expression has in every run in which it is not null.
func (b *binder) typeOf(e plan.Expr) value.Type {
	switch e := e.(type) {
	case plan.Lit:
		return value.Type{Kind: e.Value.Kind(), List: e.Value.IsList()}
	case plan.ParamRef:
		if e.Index >= 0 && e.Index < len(b.params) {
			return value.Type{Kind: b.params[e.Index].Type.Kind, List: b.params[e.Index].Type.List}
		}
	case plan.Prop:
		return value.Type{Kind: e.Type.Kind, List: e.Type.List}
	case plan.ID, plan.Endpoint:
		return value.Of(value.String)
	case plan.Now:
		return value.Of(value.DateTime)
	case plan.Whole, plan.Agg, plan.Matched, plan.BM25, plan.Nearest, plan.RRF:
	}
	return value.Type{}
}
