package exec

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ProbeShared binds a variable over an interface to the nodes with a given id or a given value of a property. In the
// table of each type it uses the key or the index of the property, or else scans the table. The
// filter with the value still runs afterwards.
type ProbeShared struct {
	Var  plan.VarID   // the variable that it binds
	Prop int          // position in the properties of the interface, ByID or ByRef
	Expr *ir.Expr     // the value
	Ways []MemberPath // by position among the members of the interface
	Vars []plan.VarID // variables that are already bound
	ID   int          // position in matcher.frames of the frame for the result
}

// The values of ProbeShared.Prop that do not stand for properties.
const (
	ByID  = -1 // the id
	ByRef = -2 // the type and the id; the value is a text of ir.ExprRef
)

// MemberPath says how a step finds the nodes of one type.
type MemberPath struct {
	Lookup bool // by the id or by the key
	Tuple  int  // by this position in the tuples of the type; -1 for none
}

// run implements [Step].
func (s *ProbeShared) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	of := m.Shared(s.Var)
	out := m.frame(s.ID, s.Vars)
	m.column(out, s.Var)
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		v := m.ValueAt(s.Expr, f, i)
		if v.IsNull() {
			continue
		}
		for k := range s.Ways {
			err := s.nodes(m, of.Tables[k], s.Ways[k], v, func(ord uint32) error {
				out.CopyRow(f, i, s.Vars)
				out.Cols[s.Var][out.N] = of.Starts[k] + ord
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
func (s *ProbeShared) nodes(m *matcher, t *version.Table, way MemberPath, v value.Value, yield func(ord uint32) error) error {
	if err := m.Tick(1); err != nil {
		return err
	}
	switch {
	case way.Lookup:
		id := ""
		switch s.Prop {
		case ByID:
			id = v.Str()
		case ByRef:
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
	case way.Tuple >= 0:
		seen := &m.walks[s.ID]
		seen.Begin(t.Ordinals())
		for c := t.Candidates(way.Tuple, version.HashValue(0, v)); c.Next(); {
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

// describe implements [Step].
func (s *ProbeShared) describe(x *explainer) (name, detail string) {
	by := "id"
	switch {
	case s.Prop == ByRef:
		by = "type and id"
	case s.Prop >= 0:
		by = x.Types[s.Var].Props[s.Prop].Name
	}
	var parts []string
	for k, m := range x.Over[s.Var].Members {
		switch way := s.Ways[k]; {
		case way.Lookup:
			parts = append(parts, m.Type.Name+" by key")
		case way.Tuple >= 0:
			parts = append(parts, m.Type.Name+" by index")
		default:
			parts = append(parts, "each "+m.Type.Name)
		}
	}
	return "probe", x.Types[s.Var].Name + " " + x.Var(s.Var) + " by " + by + " = " + x.Expr(s.Expr.Src) + ": " + strings.Join(parts, ", ")
}
