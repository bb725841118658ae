package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// sorted uses the sorted index of a property to bind a variable. It binds the entities with a value
// of the property between bounds. The filters stay, so the step may leave out bounds. If the field
// `ordered` is set, the step follows the index in order and stops once it has one row more than the
// limit.
type sorted struct {
	v       plan.VarID   // the variable that it binds
	prop    int          // position in the properties of the type
	lower   []bound      // a value must not be below these
	upper   []bound      // a value must not be beyond these
	ordered bool         // see above
	desc    bool         // the order is descending; only if ordered
	share   float64      // estimated share of entities that the bounds keep
	vars    []plan.VarID // variables that are already bound
	id      int          // position in matcher.frames of the frame for the result
	instead step         // used if the bounds keep many entities, or without an index; nil if ordered
}

// bound is a comparison of the property with a constant.
type bound struct {
	op     plan.Op
	ex     *ir.Expr // constant during a run
	unless int      // the parameter that disables the bound when it is null, or -1
}

const (
	// fewSorted is the number of entities that may always be read in the order of an index. If
	// there are more, and they exceed the share maxSortedShare of all entities, they are read in
	// the order of their rows.
	fewSorted      = 64
	maxSortedShare = 1.0 / 6 // see fewSorted
)

// sorted finds the filters that limit an indexed property of a variable. It returns nil if there
// are none.
func (pl *planner) sorted(s *scope, v plan.VarID) *sorted {
	var best *sorted
	t := pl.Types[v]
	for p, prop := range t.Props {
		if !t.Sortable(p) {
			continue
		}
		r := &sorted{v: v, prop: p}
		for w := range pl.filtersOn(s, v) {
			r.take(w.cond, prop.Type)
		}
		switch {
		case len(r.lower) == 0 && len(r.upper) == 0:
			continue
		case len(r.lower) == 0 || len(r.upper) == 0:
			r.share = ir.HalfShare
		case slices.ContainsFunc(r.lower, func(b bound) bool { return b.op == plan.StartsWith || b.op == plan.Eq }):
			r.share = ir.PrefixShare
		default:
			r.share = ir.RangeShare
		}
		if best == nil || r.share < best.share {
			best = r
		}
	}
	return best
}

// take adds the bound of a filter to the step, if the filter compares the property with a constant.
// The parameter `typ` is the type of the property.
func (s *sorted) take(c *ir.Cond, typ value.Type) {
	if !c.Compares() {
		return
	}
	is := propOf(s.v, s.prop)
	bd := bound{op: c.Op, ex: c.Right, unless: c.Unless}
	if !is(c.Left) {
		var ok bool
		if bd.op, ok = scalar.Flip(c.Op); !ok || !is(c.Right) {
			return
		}
		bd.ex = c.Left
	}
	if of := bd.ex.Type; bd.ex.Kind != ir.ExprConst || of.List || of.Kind != typ.Kind && !(of.Kind.IsNumeric() && typ.Kind.IsNumeric()) {
		return
	}
	switch bd.op {
	case plan.Lt, plan.Le:
		s.upper = append(s.upper, bd)
	case plan.Gt, plan.Ge:
		s.lower = append(s.lower, bd)
	case plan.Eq:
		s.lower, s.upper = append(s.lower, bd), append(s.upper, bd)
	case plan.StartsWith:
		if typ.Kind == value.String {
			s.lower, s.upper = append(s.lower, bd), append(s.upper, bd)
		}
	case plan.Ne, plan.Contains, plan.In, plan.Matches:
	}
}

// addSorted adds the step. The filters stay.
func (pl *planner) addSorted(s *scope, r *sorted) {
	r.id, r.vars = pl.frame(), slices.Clip(s.vars)
	r.instead = &scan{v: r.v, id: r.id, vars: r.vars}
	s.pipe.steps = append(s.pipe.steps, r)
	s.bind(r.v)
}

// followOrder makes the first step of a read follow the index of its first sort key, if few
// entities are likely to yield enough rows for the limit.
func (pl *planner) followOrder() {
	r := pl.Read
	if r.Grouped || r.Limit <= 0 || len(r.Order) == 0 || len(pl.body.steps) == 0 || ir.Fuses(r) {
		return
	}
	key, ok := r.Order[0].Expr.(plan.Prop)
	if !ok {
		return
	}
	step := &sorted{v: key.Var, ordered: true, desc: r.Order[0].Desc, share: 1}
	if step.prop, ok = pl.Types[key.Var].Prop(key.Name); !ok || !pl.Types[key.Var].Sortable(step.prop) {
		return
	}
	switch first := pl.body.steps[0].(type) {
	case *scan:
		if first.v != key.Var || len(first.vars) > 0 {
			return
		}
		step.id = first.id
	case *sorted:
		if first.v != key.Var || len(first.vars) > 0 || first.prop != step.prop {
			return
		}
		step.id, step.lower, step.upper, step.share = first.id, first.lower, first.upper, first.share
	default:
		return
	}
	live := float64(pl.live(key.Var)) * step.share
	if need := (float64(r.Limit) + 1) / pl.passing(step, pl.body.steps[1:]); need > max(fewSorted, live*ir.OrderShare) {
		return
	}
	pl.body.steps[0] = step
}

// run implements step.
func (s *sorted) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	table := m.Table(s.v)
	span, view, err := s.span(m, table)
	if err != nil {
		return err
	}
	if view == nil || !s.ordered && float64(span.Len()) > max(fewSorted, maxSortedShare*float64(table.Live())) {
		return s.scan(m, p, at, f)
	}
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.v)
	for i := range f.N {
		if f.IsDone(i) || span.Len() == 0 {
			continue
		}
		walk := view.Walk(span, s.desc, table.CompareRows(s.prop))
		if s.ordered {
			return s.first(m, p, at, out, table, &walk)
		}
		for ord, _, ok := walk.Next(); ok && !f.IsDone(i); ord, _, ok = walk.Next() {
			if err := m.Tick(1); err != nil {
				return err
			}
			out.CopyRow(f, i, s.vars)
			out.Cols[s.v][out.N] = ord
			if out.N++; out.N == eval.FrameSize {
				if err := m.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	return m.flush(p, at, out)
}

// scan runs the step without the index.
func (s *sorted) scan(m *matcher, p *pipe, at int, f *eval.Frame) error {
	if s.instead == nil {
		return (&scan{v: s.v, id: s.id, vars: s.vars}).run(m, p, at, f)
	}
	return s.instead.run(m, p, at, f)
}

// first follows the index until there is one row more than the limit; the additional row shows that
// the limit cuts rows off. It then continues with the entities that have the same value of this key
// as the last entity.
func (s *sorted) first(m *matcher, p *pipe, at int, out *eval.Frame, table *version.Table, walk *index.Walk) error {
	compare := table.CompareRows(s.prop)
	// Start with a small frame: the limit may be reached soon.
	const small = 32
	size := int(max(small, min(m.MaxRows, eval.FrameSize-1)+1))
	enough, last := false, version.NoOrd
	for ord, row, ok := walk.Next(); ok; ord, row, ok = walk.Next() {
		if err := m.Tick(1); err != nil {
			return err
		}
		if enough && compare(last, row) != 0 {
			break
		}
		out.Cols[s.v][out.N] = ord
		if out.N++; out.N < size {
			continue
		}
		if err := m.flush(p, at, out); err != nil {
			return err
		}
		m.makeColumns(out, s.v)
		size = min(2*size, eval.FrameSize)
		if !enough {
			enough, last = m.out.More || int64(m.out.Rows.N) > m.MaxRows, row
			if !enough && int64(m.out.Rows.N) == m.MaxRows {
				size = small // only the row after the limit is missing
			}
		}
	}
	return m.flush(p, at, out)
}

// span finds the range of the index between the bounds of this run. The returned index is
// nil if the property has no index, or if no bound applies and the step is not ordered.
func (s *sorted) span(m *matcher, table *version.Table) (index.Span, *index.Sorted, error) {
	bounded := false
	values := func(list []bound) (out []value.Value, some bool) {
		for _, b := range list {
			if b.unless >= 0 && m.Args[b.unless].IsNull() {
				out = append(out, value.Null)
				continue
			}
			bounded = true
			v := m.Constant(b.ex)
			if v.IsNull() {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	}
	lower, ok := values(s.lower)
	if !ok {
		return index.Span{}, &index.Sorted{}, nil
	}
	upper, ok := values(s.upper)
	if !ok {
		return index.Span{}, &index.Sorted{}, nil
	}
	if !bounded && !s.ordered {
		return index.Span{}, nil, nil
	}
	view, err := table.SortedBy(m.Ctx, s.prop, func(bytes int) bool {
		if m.Spend(bytes) == nil {
			return true
		}
		m.Spend(-bytes)
		return false
	})
	if view == nil || err != nil {
		return index.Span{}, nil, err
	}
	if !bounded { // the range includes nulls
		return view.All(), view, nil
	}
	below := func(row uint32) bool {
		v := table.ValueAt(row, s.prop)
		if v.IsNull() {
			return true // no bound is true for null
		}
		for i, b := range s.lower {
			if !lower[i].IsNull() && isBelow(b.op, v, lower[i]) {
				return true
			}
		}
		return false
	}
	beyond := func(row uint32) bool {
		v := table.ValueAt(row, s.prop)
		for i, b := range s.upper {
			if !upper[i].IsNull() && !v.IsNull() && isBeyond(b.op, v, upper[i]) {
				return true
			}
		}
		return false
	}
	return view.Between(below, beyond), view, nil
}

// isBelow reports whether v comes before all values for which the comparison with k is
// true.
func isBelow(op plan.Op, v, k value.Value) bool {
	c, ok := value.Compare(v, k)
	// NaN comes last: no comparison is true for it, and none is true if k is NaN.
	return ok && (c < 0 || c == 0 && op == plan.Gt)
}

// isBeyond reports whether v comes after all values for which the comparison with k is
// true.
func isBeyond(op plan.Op, v, k value.Value) bool {
	if op == plan.StartsWith {
		s, prefix := v.Str(), k.Str()
		return s > prefix && !(len(s) >= len(prefix) && s[:len(prefix)] == prefix)
	}
	c, ok := value.Compare(v, k)
	return !ok || c > 0 || c == 0 && op == plan.Lt
}
