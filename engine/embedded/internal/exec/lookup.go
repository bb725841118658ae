package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// lookup binds a variable to the entity with an id or a key, if there is one.
type lookup struct {
	v    plan.VarID   // the variable that it binds
	byID bool         // exs holds the id, not a key
	exs  []*ir.Expr   // the id, or the values of the key's members, in name order
	vars []plan.VarID // variables that are already bound
	out  int          // position in matcher.frames of the frame for the result
	edge *ir.Link     // the traversal that has v as its edge variable, or nil
	// ahead lists the data to prefetch for the entity; nil for none. If early is set, Program.ReadAhead
	// has prefetched the data of an entity that it could guess.
	ahead *ahead
	early bool
}

// lookup finds the filters that determine a variable's id or key. It returns nil if there
// are none.
func (pl *planner) lookup(s *scope, v plan.VarID) *lookup {
	if id := pl.equals(s, v, func(e *ir.Expr) bool { return e.Kind == ir.ExprID && e.Var == v }, value.String); id != nil {
		return &lookup{v: v, byID: true, exs: []*ir.Expr{id}}
	}
	t := pl.Types[v]
	if len(t.Key) == 0 {
		return nil
	}
	l := &lookup{v: v}
	for _, k := range t.Key {
		e := pl.equals(s, v, propOf(v, k), t.Props[k].Type.Kind)
		if e == nil {
			return nil
		}
		l.exs = append(l.exs, e)
	}
	return l
}

// propOf returns a test for property p of a variable.
func propOf(v plan.VarID, p int) func(*ir.Expr) bool {
	return func(e *ir.Expr) bool { return e.Kind == ir.ExprProp && e.Var == v && e.Prop == p }
}

// addLookup adds a lookup to the steps, and drops the filters that the lookup already tests.
func (pl *planner) addLookup(s *scope, l *lookup) {
	l.out, l.vars = pl.frame(), slices.Clip(s.vars)
	// Remove the filters that the lookup has already tested.
	for w := range pl.filtersOn(s, l.v) {
		if c := w.cond; c.Determines() {
			w.done = pl.tests(l, c.Left, c.Right) || pl.tests(l, c.Right, c.Left)
		}
	}
	s.pipe.steps = append(s.pipe.steps, l)
	s.bind(l.v)
}

// tests reports whether the found entity always satisfies left = right.
func (pl *planner) tests(l *lookup, left, right *ir.Expr) bool {
	if left.Var != l.v {
		return false
	}
	switch left.Kind {
	case ir.ExprID:
		return l.byID && ir.SameExpr(right.Src, l.exs[0].Src)
	case ir.ExprProp:
		member := slices.Index(pl.Types[l.v].Key, left.Prop)
		return !l.byID && member >= 0 && ir.SameExpr(right.Src, l.exs[member].Src)
	case ir.ExprConst, ir.ExprEnd, ir.ExprMatch, ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprAgg, ir.ExprWalk, ir.ExprRef:
	}
	return false
}

// addEdgeLookup binds an edge variable by its id, and the ends of the edge with it.
func (pl *planner) addEdgeLookup(s *scope, t *ir.Link, l *lookup) {
	l.edge = t
	pl.addLookup(s, l)
	s.bind(t.From)
	s.bind(t.To)
}

// run implements [step].
func (l *lookup) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	table := m.Table(l.v)
	out := m.frame(l.out, l.vars)
	m.column(out, l.v)
	if l.edge != nil {
		m.column(out, l.edge.From)
		m.column(out, l.edge.To)
	}
	if err := m.Tick(f.N); err != nil {
		return err
	}
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		ord, ok := m.find(l, table, f, i)
		if !ok {
			continue
		}
		out.CopyRow(f, i, l.vars)
		out.Cols[l.v][out.N] = ord
		if l.edge == nil {
			out.N++
			continue
		}
		src, dst := m.Snap.Ends(table, ord)
		if l.emit(f, out, i, src, dst) {
			out.N++
		}
		if out.N == eval.FrameSize {
			if err := m.flush(p, at, out); err != nil {
				return err
			}
		}
		if l.edge.Undirected && src != dst {
			out.CopyRow(f, i, l.vars)
			out.Cols[l.v][out.N] = ord
			if l.emit(f, out, i, dst, src) {
				out.N++
			}
			if out.N == eval.FrameSize {
				if err := m.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	return m.flush(p, at, out)
}

// emit writes the ends of an edge to the traversal's variables. It reports false if one of
// the variables is already bound to another node.
func (l *lookup) emit(f, out *eval.Frame, i int, src, dst uint32) bool {
	if slices.Contains(l.vars, l.edge.From) && f.Cols[l.edge.From][i] != src {
		return false
	}
	if slices.Contains(l.vars, l.edge.To) && f.Cols[l.edge.To][i] != dst {
		return false
	}
	if l.edge.From == l.edge.To && src != dst {
		return false
	}
	out.Cols[l.edge.From][out.N] = src
	out.Cols[l.edge.To][out.N] = dst
	return true
}

// find looks up the entity for row i.
func (m *matcher) find(l *lookup, table *version.Table, f *eval.Frame, i int) (uint32, bool) {
	if len(l.exs) == 1 && (l.byID || table.Type.IDProp >= 0) {
		v := m.ValueAt(l.exs[0], f, i)
		if v.IsNull() {
			return 0, false
		}
		id := v.Str()
		if l.ahead == nil {
			return table.Lookup(id)
		}
		finder := table.Find(id)
		if ord, ok := finder.Likely(); ok && !(l.early && finder.Guessed()) {
			m.readAhead(l.ahead, table, ord)
		}
		return finder.Found()
	}
	var few [4]value.Value
	members := few[:0]
	for _, ex := range l.exs {
		v := m.ValueAt(ex, f, i)
		if v.IsNull() {
			return 0, false
		}
		members = append(members, v)
	}
	m.key = table.Type.AppendKey(m.key[:0], members)
	return table.Lookup(string(m.key))
}

// probe binds a variable to the entities that have the given values in an indexed tuple of
// properties.
type probe struct {
	v     plan.VarID   // the variable that it binds
	tuple int          // position in the tuples of the type
	exs   []*ir.Expr   // the values, in the order of the tuple
	vars  []plan.VarID // variables that are already bound
	out   int          // position in matcher.frames of the frame for the result
}

// probe finds the filters that determine the values of an indexed tuple. It returns nil if
// there are none.
func (pl *planner) probe(s *scope, v plan.VarID) *probe {
	t := pl.Types[v]
tuples:
	for i, tuple := range t.Tuples {
		p := &probe{v: v, tuple: i}
		for _, k := range tuple {
			if k < 0 || t.Props[k].Type.List {
				continue tuples
			}
			e := pl.equals(s, v, propOf(v, k), t.Props[k].Type.Kind)
			if e == nil {
				continue tuples
			}
			p.exs = append(p.exs, e)
		}
		return p
	}
	return nil
}

// addProbe adds a probe. The filters still run afterwards, because the index may propose
// entities that do not match.
func (pl *planner) addProbe(s *scope, p *probe) {
	p.out, p.vars = pl.frame(), slices.Clip(s.vars)
	s.pipe.steps = append(s.pipe.steps, p)
	s.bind(p.v)
}

// run implements [step].
func (s *probe) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	table := m.Table(s.v)
	out := m.frame(s.out, s.vars)
	m.column(out, s.v)
rows:
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		var h uint64
		for _, ex := range s.exs {
			v := m.ValueAt(ex, f, i)
			if v.IsNull() {
				continue rows
			}
			h = version.HashValue(h, v)
		}
		seen := &m.walks[s.out]
		seen.Begin(table.Ordinals())
		for c := table.Candidates(s.tuple, h); c.Next(); {
			if err := m.Tick(1); err != nil {
				return err
			}
			if !table.Alive(c.Ord) || !seen.Visit(c.Ord) {
				continue
			}
			if err := m.Charge(seen); err != nil {
				return err
			}
			out.CopyRow(f, i, s.vars)
			out.Cols[s.v][out.N] = c.Ord
			if out.N++; out.N == eval.FrameSize {
				if err := m.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	return m.flush(p, at, out)
}
