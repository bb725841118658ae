package exec

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// pipe is a list of steps through which frames are pushed.
type pipe struct {
	steps  []step
	inner  bool    // of a not block
	counts counter // the last step, of a read that only counts rows
	// estimates are how many rows each step is expected to yield, for those who ask.
	estimates []float64
}

// scope is what is left to do of a block of clauses.
type scope struct {
	bound     map[plan.VarID]bool
	vars      []plan.VarID // bound, in the order of binding
	unbound   []plan.VarID
	traverses []plan.Traverse
	filters   []plan.Cond
	nots      []plan.Not
	pipe      *pipe
	rows      float64 // expected so far
}

// pipe orders the clauses of a block into steps. outer lists the variables that are
// bound when the block begins.
func (b *binder) pipe(clauses []plan.Clause, outer []plan.VarID) (*pipe, error) {
	s := &scope{bound: map[plan.VarID]bool{}, pipe: &pipe{inner: outer != nil}, rows: 1}
	for _, v := range outer {
		s.bind(v)
	}
	seen := map[plan.VarID]bool{}
	want := func(v plan.VarID) {
		if v != plan.NoVar && !s.bound[v] && !seen[v] {
			seen[v] = true
			s.unbound = append(s.unbound, v)
		}
	}
	for _, c := range clauses {
		switch c := c.(type) {
		case plan.Bind:
			want(c.Var)
		case plan.Traverse:
			want(c.From)
			want(c.To)
			want(c.EdgeVar)
			if t := b.schema.Type(plan.Edge, c.Edge); t == nil {
				return nil, mismatch("there is no edge type %s", c.Edge)
			} else if b.types[c.From].Index != t.From || b.types[c.To].Index != t.To {
				return nil, mismatch("edge %s does not lead from %s to %s", t.Name, b.types[c.From].Name, b.types[c.To].Name)
			}
			s.traverses = append(s.traverses, c)
		case plan.Filter:
			s.filters = append(s.filters, c.Cond)
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

func (s *scope) bind(v plan.VarID) {
	if v == plan.NoVar || s.bound[v] {
		return
	}
	s.bound[v] = true
	s.vars = append(s.vars, v)
	s.unbound = slices.DeleteFunc(s.unbound, func(u plan.VarID) bool { return u == v })
}

// settle adds the steps that only take rows away: filters, traversals between bound
// variables, and not blocks, as soon as their variables are bound.
func (b *binder) settle(s *scope) error {
	ready := func(uses func(func(plan.VarID))) bool {
		ok := true
		uses(func(v plan.VarID) { ok = ok && (v == plan.NoVar || s.bound[v]) })
		return ok
	}
	var conds []*cond
	share := 1.0
	for i := 0; i < len(s.filters); i++ {
		c := s.filters[i]
		if !ready(func(f func(plan.VarID)) { usesCond(c, f) }) {
			continue
		}
		bc, err := b.cond(c)
		if err != nil {
			return err
		}
		s.filters = slices.Delete(s.filters, i, i+1)
		i--
		if id := b.idCond(bc); id != nil {
			id.vars = slices.Clone(s.vars)
			s.pipe.steps = append(s.pipe.steps, id)
			kept := 1.0
			if !id.not {
				kept = 1 / max(1, float64(b.live(id.v)))
			}
			s.expect(kept)
			continue
		}
		share *= shareOf(c)
		conds = append(conds, bc)
	}
	if conds != nil {
		// Texts are the dearest to look at.
		slices.SortStableFunc(conds, func(a, b *cond) int { return a.weight() - b.weight() })
		s.pipe.steps = append(s.pipe.steps, &filter{conds: conds, vars: slices.Clone(s.vars)})
	}
	s.expect(share)
	for i := 0; i < len(s.traverses); i++ {
		t := s.traverses[i]
		if !s.bound[t.From] || !s.bound[t.To] {
			continue
		}
		s.traverses = slices.Delete(s.traverses, i, i+1)
		s.pipe.steps = append(s.pipe.steps, b.check(s, t))
		s.expect(b.fanout(t, false) / max(1, float64(b.live(t.To))))
		if t.EdgeVar != plan.NoVar {
			s.bind(t.EdgeVar)
			return b.settle(s) // its filters may be ready
		}
		i--
	}
	for i := 0; i < len(s.nots); i++ {
		n := s.nots[i]
		// What the block uses of the variables out here must be bound; the others
		// are its own.
		waits := false
		usesClauses(n.Match, func(v plan.VarID) { waits = waits || slices.Contains(s.unbound, v) })
		if waits {
			continue
		}
		inner, err := b.pipe(n.Match, slices.Concat([]plan.VarID{}, s.vars))
		if err != nil {
			return err
		}
		inner.inner = true
		s.nots = slices.Delete(s.nots, i, i+1)
		var out step = &anti{inner: inner, vars: slices.Clone(s.vars), id: b.frame()}
		if len(inner.steps) == 1 {
			if c, ok := inner.steps[0].(*check); ok && c.EdgeVar == plan.NoVar {
				c.not = true
				out = c
			}
		}
		s.pipe.steps = append(s.pipe.steps, out)
		s.expect(notShare)
		i--
	}
	return nil
}

func usesClauses(clauses []plan.Clause, f func(plan.VarID)) {
	for _, c := range clauses {
		switch c := c.(type) {
		case plan.Bind:
			f(c.Var)
		case plan.Traverse:
			f(c.From)
			f(c.To)
			f(c.EdgeVar)
		case plan.Filter:
			usesCond(c.Cond, f)
		case plan.Not:
			usesClauses(c.Match, f)
		}
	}
}

// The shares of rows that conditions are expected to keep.
const (
	textShare  = 0.05 // of entities, whose texts match
	equalShare = 0.05 // for which a value is equal to another
	otherShare = 0.3  // for which another comparison holds
	notShare   = 0.5  // for which a not block has no match
)

// expect notes that the steps since the last call yield so many times as many rows as
// came to them.
func (s *scope) expect(times float64) {
	if len(s.pipe.estimates) == len(s.pipe.steps) {
		return
	}
	s.rows *= times
	for len(s.pipe.estimates) < len(s.pipe.steps) {
		s.pipe.estimates = append(s.pipe.estimates, s.rows)
	}
}

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
	// What an offer costs is the rows it yields after the filters that follow it; times
	// is how many rows it makes of one.
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
		if m, ok := s.textFilter(v); ok {
			offer(4+live*textShare, live*textShare, func() error { return b.addTextScan(s, v, m) })
		}
		sel := b.selectivity(s, v)
		if r := b.sorted(s, v); r != nil {
			offer(3+live*sel, live*sel, func() error { return b.addSorted(s, r) })
		}
		offer(4+live*sel, live, func() error {
			s.pipe.steps = append(s.pipe.steps, &scan{v: v, id: b.frame(), vars: slices.Clone(s.vars)})
			s.bind(v)
			return nil
		})
	}
	for i, t := range s.traverses {
		take := func() { s.traverses = slices.Delete(s.traverses, i, i+1) }
		if t.EdgeVar != plan.NoVar && !s.bound[t.EdgeVar] {
			if l := b.lookup(s, t.EdgeVar); l != nil {
				offer(1, 1, func() error { take(); return b.addEdgeLookup(s, t, l) })
			}
		}
		if s.bound[t.From] == s.bound[t.To] {
			continue
		}
		to, back := t.To, false
		if s.bound[t.To] {
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

// fanout estimates how many nodes a traversal leads to from one.
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
	for _, c := range s.filters {
		only := true
		uses := false
		usesCond(c, func(u plan.VarID) {
			uses = uses || u == v
			only = only && (u == v || s.bound[u])
		})
		if !uses || !only {
			continue
		}
		sel *= shareOf(c)
	}
	if b.lookup(s, v) != nil {
		sel = min(sel, 1/max(1, float64(b.live(v))))
	}
	return sel
}

// frame reserves a frame for a step.
func (b *binder) frame() int {
	b.frames++
	return b.frames - 1
}

// equals finds a filter that makes an expression equal to something of type want that
// is constant or bound, in every run.
func (b *binder) equals(s *scope, left func(plan.Expr) bool, want value.Kind) (other plan.Expr, ok bool) {
	for _, c := range s.filters {
		cmp, ok := c.(plan.Compare)
		if !ok || cmp.Op != plan.Eq || cmp.Unless != plan.NoParam {
			continue
		}
		for _, side := range [2][2]plan.Expr{{cmp.Left, cmp.Right}, {cmp.Right, cmp.Left}} {
			if !left(side[0]) || !b.typeOf(side[1]).Equal(value.Of(want)) {
				continue
			}
			bound := true
			uses(side[1], func(v plan.VarID) { bound = bound && s.bound[v] })
			if bound {
				return side[1], true
			}
		}
	}
	return nil, false
}

// typeOf returns the type that an expression has in every run, null left aside.
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
