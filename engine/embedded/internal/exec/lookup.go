package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Lookup binds a variable to the entity with an id or a key, if there is one.
type Lookup struct {
	Var   plan.VarID   // the variable that it binds
	ByID  bool         // exs holds the id, not a key
	Exprs []*ir.Expr   // the id, or the values of the key's members, in name order
	Vars  []plan.VarID // variables that are already bound
	Out   int          // position in matcher.frames of the frame for the result
	Edge  *ir.Link     // the traversal that has v as its edge variable, or nil
	// Ahead lists the data to prefetch for the entity; nil for none. If early is set, Program.ReadAhead
	// has prefetched the data of an entity that it could guess.
	Ahead *Ahead
	Early bool
}

// PropOf returns a test for property p of a variable.
func PropOf(v plan.VarID, p int) func(*ir.Expr) bool {
	return func(e *ir.Expr) bool { return e.Kind == ir.ExprProp && e.Var == v && e.Prop == p }
}

// run implements [Step].
func (l *Lookup) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	table := m.Table(l.Var)
	out := m.frame(l.Out, l.Vars)
	m.column(out, l.Var)
	if l.Edge != nil {
		m.column(out, l.Edge.From)
		m.column(out, l.Edge.To)
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
		out.CopyRow(f, i, l.Vars)
		out.Cols[l.Var][out.N] = ord
		if l.Edge == nil {
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
		if l.Edge.Undirected && src != dst {
			out.CopyRow(f, i, l.Vars)
			out.Cols[l.Var][out.N] = ord
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
func (l *Lookup) emit(f, out *eval.Frame, i int, src, dst uint32) bool {
	if slices.Contains(l.Vars, l.Edge.From) && f.Cols[l.Edge.From][i] != src {
		return false
	}
	if slices.Contains(l.Vars, l.Edge.To) && f.Cols[l.Edge.To][i] != dst {
		return false
	}
	if l.Edge.From == l.Edge.To && src != dst {
		return false
	}
	out.Cols[l.Edge.From][out.N] = src
	out.Cols[l.Edge.To][out.N] = dst
	return true
}

// find looks up the entity for row i.
func (m *matcher) find(l *Lookup, table *version.Table, f *eval.Frame, i int) (uint32, bool) {
	if len(l.Exprs) == 1 && (l.ByID || table.Type.IDProp >= 0) {
		v := m.ValueAt(l.Exprs[0], f, i)
		if v.IsNull() {
			return 0, false
		}
		id := v.Str()
		if l.Ahead == nil {
			return table.Lookup(id)
		}
		finder := table.Find(id)
		if ord, ok := finder.Likely(); ok && !(l.Early && finder.Guessed()) {
			m.readAhead(l.Ahead, table, ord)
		}
		return finder.Found()
	}
	var few [4]value.Value
	members := few[:0]
	for _, ex := range l.Exprs {
		v := m.ValueAt(ex, f, i)
		if v.IsNull() {
			return 0, false
		}
		members = append(members, v)
	}
	m.key = table.Type.AppendKey(m.key[:0], members)
	return table.Lookup(string(m.key))
}

// Probe binds a variable to the entities that have the given values in an indexed tuple of
// properties.
type Probe struct {
	Var   plan.VarID   // the variable that it binds
	Tuple int          // position in the tuples of the type
	Exprs []*ir.Expr   // the values, in the order of the tuple
	Vars  []plan.VarID // variables that are already bound
	Out   int          // position in matcher.frames of the frame for the result
}

// run implements [Step].
func (s *Probe) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	table := m.Table(s.Var)
	out := m.frame(s.Out, s.Vars)
	m.column(out, s.Var)
rows:
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		var h uint64
		for _, ex := range s.Exprs {
			v := m.ValueAt(ex, f, i)
			if v.IsNull() {
				continue rows
			}
			h = version.HashValue(h, v)
		}
		seen := &m.walks[s.Out]
		seen.Begin(table.Ordinals())
		for c := table.Candidates(s.Tuple, h); c.Next(); {
			if err := m.Tick(1); err != nil {
				return err
			}
			if !table.Alive(c.Ord) || !seen.Visit(c.Ord) {
				continue
			}
			if err := m.Charge(seen); err != nil {
				return err
			}
			out.CopyRow(f, i, s.Vars)
			out.Cols[s.Var][out.N] = c.Ord
			if out.N++; out.N == eval.FrameSize {
				if err := m.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	return m.flush(p, at, out)
}
