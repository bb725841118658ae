package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// constants holds the constant lists and the patterns of a run.
type constants struct {
	sorted   []sortedList       // by position in ir.Query.Lists
	compiled []*pattern.Pattern // by position in ir.Query.Patterns; nil for a null argument
}

// sortedList contains the distinct elements of a list in ascending order. It leaves out nulls and
// NaN, because they equal no value.
type sortedList struct {
	ready  bool          // whether `values` is set for this run
	values []value.Value // in ascending order
}

// newConstants returns the memory for the lists and patterns of a query.
func newConstants(q *ir.Query) constants {
	return constants{sorted: make([]sortedList, len(q.Lists)), compiled: make([]*pattern.Pattern, len(q.Patterns))}
}

// BeginConstants compiles the patterns of a run. The error is a *engine.BadArgument for the first
// parameter that is not a valid pattern.
func (ev *Evaluator) BeginConstants() error {
	first, bad := len(ev.Params), error(nil)
	for i, p := range ev.Patterns {
		if fault.On(fault.PatternKept) && ev.compiled[i] != nil {
			continue
		}
		ev.compiled[i] = p.Compiled
		if p.Compiled != nil {
			continue
		}
		arg := ev.Constant(p.Expr)
		if arg.IsNull() {
			continue
		}
		var err error
		ev.compiled[i], err = pattern.Compile(arg.Str())
		if n := p.Expr.Src.(plan.ParamRef).Index; err != nil && n < first {
			first, bad = n, &engine.BadArgument{Param: ev.Params[n].Name, Detail: err.Error()}
		}
	}
	return bad
}

// endConstants clears references that a pooled evaluator must not keep alive.
func (ev *Evaluator) endConstants() {
	for i := range ev.sorted {
		ev.sorted[i] = sortedList{}
	}
	if !fault.On(fault.PatternKept) {
		clear(ev.compiled)
	}
}

// ValueBytes is the size in bytes of a value in a list.
const ValueBytes = 48

// Members returns the distinct elements of a constant list in ascending order. It returns nil if
// the list is null. It also returns nil if the run has too little memory; the run then ends with an
// error.
func (ev *Evaluator) Members(list int) []value.Value {
	s := &ev.sorted[list]
	if s.ready {
		return s.values
	}
	s.ready = true
	v := ev.Constant(ev.Lists[list])
	if v.IsNull() {
		return nil
	}
	if err := ev.Spend(ValueBytes * len(v.Elems())); err != nil {
		ev.TextErr = cmp.Or(ev.TextErr, err)
		return nil
	}
	s.values = make([]value.Value, 0, len(v.Elems()))
	for _, e := range v.Elems() {
		if _, ok := value.Compare(e, e); ok {
			s.values = append(s.values, e)
		}
	}
	slices.SortFunc(s.values, compareValues)
	if !fault.On(fault.MemberRepeats) {
		s.values = slices.CompactFunc(s.values, func(a, b value.Value) bool { return compareValues(a, b) == 0 })
	}
	return s.values
}

// compareValues orders two comparable values.
func compareValues(a, b value.Value) int {
	c, _ := value.Compare(a, b)
	return c
}

// testIn appends to `rows` the rows of a frame in which the left side of the condition is an
// element of its constant list.
func (ev *Evaluator) testIn(c *ir.Cond, f *Frame, rows []uint32) []uint32 {
	list := ev.Members(c.List)
	if len(list) == 0 {
		return rows
	}
	vec := ev.Eval(c.Left, f)
	if vec.Type.Kind == value.String && !vec.Type.List && list[0].Kind() == value.String {
		for i, s := range vec.Strings[:f.N] {
			if vec.IsNull(i) {
				continue
			}
			if _, ok := slices.BinarySearchFunc(list, s, func(e value.Value, s string) int { return cmp.Compare(e.Str(), s) }); ok {
				rows = append(rows, uint32(i))
			}
		}
		return rows
	}
	for i := range f.N {
		v := vec.Value(i)
		if v.IsNull() {
			continue
		}
		if _, ok := value.Compare(v, list[0]); !ok { // NaN, or kinds that cannot be compared
			continue
		}
		if _, ok := slices.BinarySearchFunc(list, v, compareValues); ok {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// testPattern appends to `rows` the rows of a frame in which the left side of the condition matches
// its pattern. When the context of the call ends, testPattern stops, and the run ends with the
// context's error.
func (ev *Evaluator) testPattern(c *ir.Cond, f *Frame, rows []uint32) []uint32 {
	p := ev.compiled[c.Pattern]
	if p == nil {
		return rows
	}
	vec := ev.Eval(c.Left, f)
	ended := func() bool {
		ev.TextErr = cmp.Or(ev.TextErr, ev.Ctx.Err())
		return ev.TextErr != nil
	}
	work := 0 // since the context was last checked; see patternWork
	for i, s := range vec.Strings[:f.N] {
		if vec.IsNull(i) {
			continue
		}
		if work += len(s) * p.Size(); work > patternWork {
			work = 0
			if ended() {
				return rows
			}
		}
		if fault.On(fault.PatternFolds) {
			s = strings.ToLower(s)
		}
		if p.Match(s, ended) {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// patternWork is the amount of matching between two checks of the context: the bytes of each text,
// multiplied by the number of elements of the pattern. So much matching takes milliseconds.
const patternWork = 1 << 20

// testNull appends to `rows` the rows of a frame in which an expression is null or, if the
// condition's field `NotNull` is set, is not null.
func (ev *Evaluator) testNull(c *ir.Cond, f *Frame, rows []uint32) []uint32 {
	vec := ev.Eval(c.Left, f)
	for i := range f.N {
		null := vec.IsNull(i)
		if fault.On(fault.EmptyIsNull) {
			null = null || vec.Type.List && len(vec.Value(i).Elems()) == 0
		}
		if fault.On(fault.FirstDecides) {
			null = vec.IsNull(0)
		}
		if null != c.NotNull {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}
