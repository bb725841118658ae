package exec

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// probeShared binds a variable over an interface to the nodes with a given id or a given value of a property. In the
// table of each type it uses the key or the index of the property, or else scans the table. The
// filter with the value still runs afterwards.
type probeShared struct {
	v    plan.VarID   // the variable that it binds
	prop int          // position in the properties of the interface, byID or byRef
	ex   *ir.Expr     // the value
	ways []memberPath // by position among the members of the interface
	vars []plan.VarID // variables that are already bound
	id   int          // position in matcher.frames of the frame for the result
}

// The values of probeShared.prop that do not stand for properties.
const (
	byID  = -1 // the id
	byRef = -2 // the type and the id; the value is a text of refText
)

// memberPath says how a step finds the nodes of one type.
type memberPath struct {
	lookup bool // by the id or by the key
	tuple  int  // by this position in the tuples of the type; -1 for none
}

// probeShared returns the cheapest step for a filter that requires the id or a property of a variable over an
// interface to equal a value, or the node to be that of a parameter. It returns nil if the scope has no such
// filter, or if no type has an index for it.
func (pl *planner) probeShared(s *scope, v plan.VarID) *probeShared {
	for _, by := range []struct {
		prop int
		kind ir.ExprKind
	}{{byRef, ir.ExprRef}, {byID, ir.ExprID}} {
		if ex := pl.equals(s, v, func(e *ir.Expr) bool { return e.Kind == by.kind && e.Var == v }, value.String); ex != nil {
			return &probeShared{v: v, prop: by.prop, ex: ex, ways: slices.Repeat([]memberPath{{lookup: true, tuple: -1}}, len(pl.Query.Over[v].Members))}
		}
	}
	var best *probeShared
	for p, prop := range pl.Types[v].Props {
		if prop.Name == catalog.TypeProperty || prop.Type.List {
			continue
		}
		ex := pl.equals(s, v, propOf(v, p), prop.Type.Kind)
		if ex == nil {
			continue
		}
		out := &probeShared{v: v, prop: p, ex: ex}
		indexed := false
		for _, m := range pl.Query.Over[v].Members {
			way := path(m, p)
			out.ways = append(out.ways, way)
			indexed = indexed || way != memberPath{tuple: -1}
		}
		if indexed && (best == nil || pl.cost(out) < pl.cost(best)) {
			best = out
		}
	}
	return best
}

// path says how to find the nodes of a member with a value of property p of the interface.
func path(m version.Member, p int) memberPath {
	own := m.Props[p]
	return memberPath{
		lookup: len(m.Type.Key) == 1 && m.Type.Key[0] == own,
		tuple:  slices.IndexFunc(m.Type.Tuples, func(tuple []int) bool { return len(tuple) == 1 && tuple[0] == own }),
	}
}

// cost estimates the cost of the step in rows.
func (pl *planner) cost(s *probeShared) float64 {
	total := 0.0
	for k, way := range s.ways {
		live := float64(pl.snap.Nodes(pl.Query.Over[s.v].Members[k].Type.Index).Live())
		switch {
		case way.lookup:
			total += lookupCost
		case way.tuple >= 0:
			total += probeCost + live*probeShare
		default:
			total += scanCost + live
		}
	}
	return total
}

// found estimates the number of nodes that the step finds.
func (pl *planner) found(s *probeShared) float64 {
	switch s.prop {
	case byID:
		return float64(len(s.ways))
	case byRef:
		return 1
	}
	return max(1, float64(pl.live(s.v))*ir.EqualShare)
}

// addProbeShared adds the step. The filters stay.
func (pl *planner) addProbeShared(s *scope, p *probeShared) {
	p.id, p.vars = pl.frame(), slices.Clip(s.vars)
	s.pipe.steps = append(s.pipe.steps, p)
	s.bind(p.v)
}

// run implements [step].
func (s *probeShared) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	of := m.Shared(s.v)
	out := m.frame(s.id, s.vars)
	m.column(out, s.v)
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		v := m.ValueAt(s.ex, f, i)
		if v.IsNull() {
			continue
		}
		for k := range s.ways {
			err := s.nodes(m, of.Tables[k], s.ways[k], v, func(ord uint32) error {
				out.CopyRow(f, i, s.vars)
				out.Cols[s.v][out.N] = of.Starts[k] + ord
				if out.N++; out.N < eval.FrameSize {
					return nil
				}
				return m.flush(p, at, out)
			})
			if err != nil {
				return err
			}
		}
	}
	return m.flush(p, at, out)
}

// nodes calls `yield` for the nodes of a table that may have the value v, each once.
func (s *probeShared) nodes(m *matcher, t *version.Table, way memberPath, v value.Value, yield func(ord uint32) error) error {
	if err := m.Tick(1); err != nil {
		return err
	}
	switch {
	case way.lookup:
		id := ""
		switch s.prop {
		case byID:
			id = v.Str()
		case byRef:
			var ok bool
			if id, ok = eval.IDIn(v.Str(), t.Type.Name); !ok {
				return nil
			}
		default:
			m.key = t.Type.AppendKey(m.key[:0], []value.Value{v})
			id = string(m.key)
		}
		if ord, ok := t.Lookup(id); ok {
			return yield(ord)
		}
		return nil
	case way.tuple >= 0:
		seen := &m.walks[s.id]
		seen.Begin(t.Ordinals())
		for c := t.Candidates(way.tuple, version.HashValue(0, v)); c.Next(); {
			if err := m.Tick(1); err != nil {
				return err
			}
			if !t.Alive(c.Ord) || !seen.Visit(c.Ord) {
				continue
			}
			if err := m.Charge(seen); err != nil {
				return err
			}
			if err := yield(c.Ord); err != nil {
				return err
			}
		}
		return nil
	}
	for ord := range t.Ordinals() {
		if err := m.Tick(1); err != nil {
			return err
		}
		if t.Alive(ord) {
			if err := yield(ord); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe implements [step].
func (s *probeShared) describe(x *explainer) (name, detail string) {
	by := "id"
	switch {
	case s.prop == byRef:
		by = "type and id"
	case s.prop >= 0:
		by = x.Types[s.v].Props[s.prop].Name
	}
	var parts []string
	for k, m := range x.Over[s.v].Members {
		switch way := s.ways[k]; {
		case way.lookup:
			parts = append(parts, m.Type.Name+" by key")
		case way.tuple >= 0:
			parts = append(parts, m.Type.Name+" by index")
		default:
			parts = append(parts, "each "+m.Type.Name)
		}
	}
	return "probe", x.Types[s.v].Name + " " + x.Var(s.v) + " by " + by + " = " + x.Expr(s.ex.Src) + ": " + strings.Join(parts, ", ")
}
