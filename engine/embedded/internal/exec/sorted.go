package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Sorted uses the sorted index of a property to bind a variable. It binds the entities with a value
// of the property between bounds. The filters stay, so the step may leave out bounds. If the field
// Ordered is set, the step follows the index in order and stops once it has one row more than the
// limit.
type Sorted struct {
	Var     plan.VarID   // the variable that it binds
	Prop    int          // position in the properties of the type
	Lower   []Bound      // a value must not be below these
	Upper   []Bound      // a value must not be beyond these
	Ordered bool         // see above
	Desc    bool         // the order is descending; only if ordered
	Share   float64      // estimated share of entities that the bounds keep
	Vars    []plan.VarID // variables that are already bound
	ID      int          // position in matcher.frames of the frame for the result
	Instead Step         // used if the bounds keep many entities, or without an index; nil if ordered
}

// Bound is a comparison of the property with a constant.
type Bound struct {
	Op     plan.Op
	ex     *ir.Expr // constant during a run
	unless int      // the parameter that disables the bound when it is null, or -1
}

const (
	// FewSorted is the number of entities that may always be read in the order of an index. If
	// there are more, and they exceed the share maxSortedShare of all entities, they are read in
	// the order of their rows.
	FewSorted      = 64
	maxSortedShare = 1.0 / 6 // see FewSorted
)

// Take adds the bound of a filter to the step, if the filter compares the property with a constant.
// The parameter `typ` is the type of the property.
func (s *Sorted) Take(c *ir.Cond, typ value.Type) {
	if !c.Compares() {
		return
	}
	is := PropOf(s.Var, s.Prop)
	bd := Bound{Op: c.Op, ex: c.Right, unless: c.Unless}
	if !is(c.Left) {
		var ok bool
		if bd.Op, ok = scalar.Flip(c.Op); !ok || !is(c.Right) {
			return
		}
		bd.ex = c.Left
	}
	if of := bd.ex.Type; bd.ex.Kind != ir.ExprConst || of.List || of.Kind != typ.Kind && !(of.Kind.IsNumeric() && typ.Kind.IsNumeric()) {
		return
	}
	switch bd.Op {
	case plan.Lt, plan.Le:
		s.Upper = append(s.Upper, bd)
	case plan.Gt, plan.Ge:
		s.Lower = append(s.Lower, bd)
	case plan.Eq:
		s.Lower, s.Upper = append(s.Lower, bd), append(s.Upper, bd)
	case plan.StartsWith:
		if typ.Kind == value.String {
			s.Lower, s.Upper = append(s.Lower, bd), append(s.Upper, bd)
		}
	case plan.Ne, plan.Contains, plan.In, plan.Matches:
	}
}

// run implements [Step].
func (s *Sorted) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	table := m.Table(s.Var)
	span, view, err := s.span(m, table)
	if err != nil {
		return err
	}
	if view == nil || !s.Ordered && float64(span.Len()) > max(FewSorted, maxSortedShare*float64(table.Live())) {
		return s.scan(m, p, at, f)
	}
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.Var)
	for i := range f.N {
		if f.IsDone(i) || span.Len() == 0 {
			continue
		}
		walk := view.Walk(span, s.Desc, table.CompareRows(s.Prop))
		if s.Ordered {
			return s.first(m, p, at, out, table, &walk)
		}
		for ord, _, ok := walk.Next(); ok && !f.IsDone(i); ord, _, ok = walk.Next() {
			if err := m.Tick(1); err != nil {
				return err
			}
			out.CopyRow(f, i, s.Vars)
			out.Cols[s.Var][out.N] = ord
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
func (s *Sorted) scan(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if s.Instead == nil {
		return (&Scan{Var: s.Var, ID: s.ID, Vars: s.Vars}).run(m, p, at, f)
	}
	return s.Instead.run(m, p, at, f)
}

// first follows the index until there is one row more than the limit; the additional row shows that
// the limit cuts rows off. It then continues with the entities that have the same value of this key
// as the last entity.
func (s *Sorted) first(m *matcher, p *Pipe, at int, out *eval.Frame, table *version.Table, walk *index.Walk) error {
	compare := table.CompareRows(s.Prop)
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
		out.Cols[s.Var][out.N] = ord
		if out.N++; out.N < size {
			continue
		}
		if err := m.flush(p, at, out); err != nil {
			return err
		}
		m.makeColumns(out, s.Var)
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

// noRows is the index of a span without rows.
var noRows = &index.Sorted{}

// span finds the range of the index between the bounds of this run. If a bound is null, no value satisfies it: the span is
// empty and the index is noRows. The returned index is nil if the property has no index, or if no bound applies and the step
// is not ordered.
func (s *Sorted) span(m *matcher, table *version.Table) (index.Span, *index.Sorted, error) {
	lower, ok := m.boundsOf(s.Lower)
	if !ok {
		return index.Span{}, noRows, nil
	}
	upper, ok := m.boundsOf(s.Upper)
	if !ok {
		return index.Span{}, noRows, nil
	}
	bounded := len(lower)+len(upper) > 0
	if !bounded && !s.Ordered {
		return index.Span{}, nil, nil
	}
	view, err := table.SortedBy(m.Ctx, s.Prop, func(bytes int) bool {
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
	l := limits{table, s.Prop, lower, upper}
	return view.Between(l.below, l.beyond), view, nil
}

// limit is the value of a bound in one run.
type limit struct {
	op plan.Op
	v  value.Value
}

// boundsOf returns the limits of the bounds that are not disabled in this run. It reports false if one of them is null.
func (m *matcher) boundsOf(list []Bound) (out []limit, ok bool) {
	for _, b := range list {
		if b.unless >= 0 && m.Args[b.unless].IsNull() {
			continue
		}
		v := m.Constant(b.ex)
		if v.IsNull() {
			return nil, false
		}
		out = append(out, limit{b.Op, v})
	}
	return out, true
}

// limits bound the values of a property of a table.
type limits struct {
	table        *version.Table
	prop         int
	lower, upper []limit
}

// below reports whether the value of a row comes before all values within the limits. Nulls come first.
func (l *limits) below(row uint32) bool {
	v := l.table.ValueAt(row, l.prop)
	if v.IsNull() {
		return true // no bound is true for null
	}
	for _, k := range l.lower {
		if isBelow(k.op, v, k.v) {
			return true
		}
	}
	return false
}

// beyond reports whether the value of a row comes after all values within the limits.
func (l *limits) beyond(row uint32) bool {
	v := l.table.ValueAt(row, l.prop)
	if v.IsNull() {
		return false
	}
	for _, k := range l.upper {
		if isBeyond(k.op, v, k.v) {
			return true
		}
	}
	return false
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
