package sink

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// newFold has a function for each aggregate except count and collect. The function makes the aggregate's
// fold; count needs none, and collect has [collected].
var newFold = map[plan.AggFunc]func() fold{
	plan.Sum: func() fold { return &sums{} },
	plan.Avg: func() fold { return &sums{mean: true} },
	plan.Min: func() fold { return &extremes{sign: -1} },
	plan.Max: func() fold { return &extremes{sign: +1} },

	plan.Median: func() fold { return &medians{} },
}

// fold combines the values of one aggregate, by group.
type fold interface {
	reset()
	grow() // adds a group, which has no values yet
	// add adds the values that are not null to their groups. The error is that of
	// eval.Budget.Spend.
	add(b *eval.Budget, values *column.Vec, groups []uint32) error
	// set writes the result of a group with n > 0 values to row i of out. The error is a *engine.TooLarge.
	set(out *column.Vec, i int, group uint32, n int64) error
}

// Accumulator holds the state of one aggregate of a run, by group.
type Accumulator struct {
	Counts []int64         // of the rows, or of the values that are not null
	fold   fold            // nil for count and collect
	set    *distinctCounts // of count(distinct …); nil for other aggregates
	list   *collected      // of collect; nil for other aggregates
}

// newAccumulators returns an accumulator for each aggregate of a query.
func newAccumulators(q *ir.Query) []Accumulator {
	list := make([]Accumulator, len(q.Aggs))
	for i, a := range q.Aggs {
		list[i] = NewAccumulator(&a, q.KeepsText(a.Expr))
	}
	return list
}

// NewAccumulator returns an accumulator for an aggregate. The argument `texts` says whether the run makes the
// texts that the aggregate keeps; see ir.Query.KeepsText.
func NewAccumulator(a *ir.Aggregate, texts bool) (out Accumulator) {
	switch make := newFold[a.Src.Func]; {
	case a.Src.Func == plan.Collect:
		out.list = &collected{distinct: a.Src.Distinct, texts: texts, nodes: a.Nodes}
		if e, ok := a.Src.Arg.(plan.EndNode); ok {
			out.list.end = &e
		}
	case a.Src.Distinct:
		out.set = &distinctCounts{}
	case make != nil:
		out.fold = make()
		if e, ok := out.fold.(*extremes); ok {
			e.texts = texts
		}
	}
	return out
}

// Spent returns the bytes that the run was charged for the values of an aggregate over a block.
func (to *Accumulator) Spent() int {
	if e, ok := to.fold.(*extremes); ok {
		return e.spent
	}
	if to.set != nil {
		return to.set.spent
	}
	return 0
}

// Reset removes all groups.
func (to *Accumulator) Reset() {
	to.Counts = to.Counts[:0]
	switch {
	case to.fold != nil:
		to.fold.reset()
	case to.set != nil:
		to.set.reset()
	case to.list != nil:
		to.list.reset()
	}
}

// group adds the rows of a frame to their groups.
func (co *Collector) group(f *eval.Frame) error {
	ids, err := co.assign(f)
	if err != nil {
		return err
	}
	for k := range co.Aggs {
		if err := co.accumulate(&co.Aggs[k], &co.sums[k], f, ids); err != nil {
			return err
		}
	}
	return nil
}

// addGroup adds a group without values to each aggregate.
func (co *Collector) addGroup() {
	for k := range co.sums {
		co.sums[k].Grow()
	}
}

// Grow adds a group without values.
func (to *Accumulator) Grow() {
	to.Counts = append(to.Counts, 0)
	switch {
	case to.fold != nil:
		to.fold.grow()
	case to.list != nil:
		to.list.grow()
	}
}

// accumulate adds the rows of a frame to an aggregate. The list ids has the group of each row.
func (co *Collector) accumulate(a *ir.Aggregate, to *Accumulator, f *eval.Frame, ids []uint32) error {
	if to.list != nil {
		var values *column.Vec
		if a.Nodes == plan.NoVar {
			values = co.Eval(a.Expr, f)
		}
		return to.list.add(co, f, values, ids)
	}
	return to.Accumulate(co.Evaluator, a, f, ids)
}

// Accumulate adds the rows of a frame to the state of an aggregate that is not collect. The list `ids`
// contains the number of each row's group.
func (to *Accumulator) Accumulate(ev *eval.Evaluator, a *ir.Aggregate, f *eval.Frame, ids []uint32) error {
	if a.Rows {
		for _, id := range ids {
			to.Counts[id]++
		}
		return nil
	}
	if a.Bound != plan.NoVar {
		for i, ord := range f.Cols[a.Bound][:f.N] {
			if ord != version.NoOrd || fault.On(fault.NullsCounted) {
				to.Counts[ids[i]]++
			}
		}
		return nil
	}
	vec := ev.Eval(a.Expr, f)
	if to.set != nil {
		return to.set.add(&ev.Budget, vec, ids, to.Counts)
	}
	for i, id := range ids {
		if !vec.IsNull(i) {
			to.Counts[id]++
		}
	}
	if to.fold == nil {
		return nil
	}
	return to.fold.add(&ev.Budget, vec, ids)
}

// Result writes an aggregate's results into vec, for the given groups.
func (co *Collector) Result(k int, groups []uint32, vec *column.Vec) {
	from := &co.sums[k]
	if from.list != nil {
		from.list.answered(co, groups)
	}
	vec.Reset(co.Aggs[k].Type, len(groups))
	for i, g := range groups {
		if from.list != nil {
			if vec.Lists[i] = value.OfList(vec.Type.Kind, nil); co.TextErr == nil {
				vec.Lists[i] = from.list.of(co, g, vec.Type.Kind)
			}
			continue
		}
		co.FailOn(from.Put(vec, i, g))
	}
}

// Put writes the result for a group into row i of vec. The aggregate is not collect. The error is a *engine.TooLarge.
func (to *Accumulator) Put(vec *column.Vec, i int, group uint32) error {
	switch n := to.Counts[group]; {
	case to.fold == nil:
		vec.Ints[i] = n
	case n == 0:
		vec.SetNull(i)
	default:
		return to.fold.set(vec, i, group, n)
	}
	return nil
}

// sums folds the values of sum and avg.
type sums struct {
	mean   bool       // whether the result is the mean, for avg
	totals []exactSum // by group: the sum
	// By group, the sum of Decimals times 10^scale; nil for other numbers.
	decimals []big.Int
	scale    int // see decimals
}

func (s *sums) reset() {
	clear(s.decimals)
	s.totals, s.decimals = s.totals[:0], s.decimals[:0]
}

func (s *sums) grow() { s.totals = append(s.totals, exactSum{}) }

// add implements [fold].
func (s *sums) add(_ *eval.Budget, values *column.Vec, groups []uint32) error {
	switch values.Type.Kind.Storage() {
	case value.InBytes: // Decimals
		s.scale = values.Type.Scale()
		if more := len(s.totals) - len(s.decimals); more > 0 {
			s.decimals = append(s.decimals, make([]big.Int, more)...)
		}
		for i, g := range groups {
			if !values.IsNull(i) {
				sum := &s.decimals[g]
				sum.Add(sum, value.OfRaw(value.Decimal, values.Strings[i]).Unscaled())
			}
		}
	case value.InFloat32, value.InFloat64:
		for i, g := range groups {
			if !values.IsNull(i) {
				s.totals[g].add(values.Floats[i])
			}
		}
	case value.InUint64:
		for i, g := range groups {
			if !values.IsNull(i) {
				s.totals[g].addUint(uint64(values.Ints[i]))
			}
		}
	default:
		for i, g := range groups {
			if !values.IsNull(i) {
				s.totals[g].addInt(values.Ints[i])
			}
		}
	}
	return nil
}

// set implements [fold].
func (s *sums) set(out *column.Vec, i int, group uint32, n int64) error {
	if len(s.decimals) > 0 {
		return s.setDecimal(out, i, group, n)
	}
	out.Floats[i] = s.totals[group].value()
	if s.mean {
		out.Floats[i] /= float64(n)
	}
	return nil
}

// setDecimal is set for Decimals.
func (s *sums) setDecimal(out *column.Vec, i int, group uint32, n int64) error {
	sum := &s.decimals[group]
	if s.mean {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s.scale)), nil)
		out.Floats[i], _ = new(big.Rat).SetFrac(sum, unit.Mul(unit, big.NewInt(n))).Float64()
		return nil
	}
	v, ok := value.OfDecimal(sum, s.scale)
	if out.Set(i, v); !ok {
		return scalar.ErrDigits
	}
	return nil
}

// extremes folds the values of min and max.
type extremes struct {
	sign  int           // result of comparing a better value with a worse one
	best  []value.Value // by group: the least or greatest value so far
	texts bool          // the run makes the values, which are texts
	spent int           // bytes that the run was charged for texts in `best`
}

func (e *extremes) reset() {
	clear(e.best)
	e.best, e.spent = e.best[:0], 0
}

func (e *extremes) grow() { e.best = append(e.best, value.Null) }

// add implements [fold].
func (e *extremes) add(b *eval.Budget, values *column.Vec, groups []uint32) error {
	more := 0
	for i, g := range groups {
		if values.IsNull(i) {
			continue
		}
		v := values.Value(i)
		best := &e.best[g]
		if c, ok := value.Compare(v, *best); best.IsNull() || ok && c*e.sign > 0 {
			if e.texts {
				more += len(v.Str())
				if !best.IsNull() {
					more -= len(best.Str())
				}
			}
			*best = v
		}
	}
	e.spent += more
	return b.Spend(more)
}

// set implements [fold].
func (e *extremes) set(out *column.Vec, i int, group uint32, _ int64) error {
	out.Set(i, e.best[group])
	return nil
}

// medians folds the values of median. It keeps them, because the middle is known only at the
// end.
type medians struct {
	kind     value.Kind // kind of the values
	keys     [][]uint64 // numbers with the order of the values, by group; see scalarHeads
	decimals [][]string // Decimals, by group; empty for other values. Their payloads have the order of the numbers
}

func (m *medians) reset() {
	clear(m.keys)
	clear(m.decimals)
	m.keys, m.decimals = m.keys[:0], m.decimals[:0]
}

func (m *medians) grow() { m.keys, m.decimals = append(m.keys, nil), append(m.decimals, nil) }

// add implements [fold].
func (m *medians) add(b *eval.Budget, values *column.Vec, groups []uint32) error {
	m.kind = values.Type.Kind
	if m.kind == value.Decimal {
		size := 0
		for i, g := range groups {
			if !values.IsNull(i) {
				m.decimals[g] = append(m.decimals[g], strings.Clone(values.Strings[i]))
				size += 2*16 + len(values.Strings[i])
			}
		}
		return b.Spend(size)
	}
	var few [eval.FrameSize]entry
	entries := few[:len(groups)]
	scalarHeads(values, entries)
	for i, g := range groups {
		if !values.IsNull(i) {
			m.keys[g] = append(m.keys[g], entries[i].head)
		}
	}
	return b.Spend(2 * 8 * len(groups)) // append grows a slice to less than twice its length
}

// set implements [fold].
func (m *medians) set(out *column.Vec, i int, group uint32, n int64) error {
	if m.kind == value.Decimal {
		list := m.decimals[group]
		slices.Sort(list)
		lower, upper := value.OfRaw(value.Decimal, list[(n-1)/2]), value.OfRaw(value.Decimal, list[n/2])
		sum := new(big.Int).Add(lower.Unscaled(), upper.Unscaled())
		out.Floats[i], _ = new(big.Rat).SetFrac(sum, new(big.Int).Lsh(value.PowerOfTen(upper.Scale()), 1)).Float64()
		return nil
	}
	keys := m.keys[group]
	upper := nth(keys, len(keys)/2)
	if n%2 != 0 {
		out.Floats[i] = m.sum(upper)
		return nil
	}
	lower := nth(keys, len(keys)/2-1)
	out.Floats[i] = m.sum(lower, upper) / 2
	if math.IsInf(out.Floats[i], 0) { // the sum of two finite numbers may be out of range
		out.Floats[i] = m.sum(lower)/2 + m.sum(upper)/2
	}
	return nil
}

// sum returns the sum of the numbers with the given keys, rounded once. Halving that sum is exact,
// so the mean of two numbers is rounded only once too.
func (m *medians) sum(keys ...uint64) float64 {
	var s exactSum
	for _, k := range keys {
		switch m.kind.Storage() {
		case value.InFloat32, value.InFloat64:
			s.add(floatOfHead(k))
		case value.InUint64:
			s.addUint(k)
		default:
			s.addInt(int64(k ^ 1<<63))
		}
	}
	return s.value()
}

// floatOfHead returns the number that floatHead turned into h, or 0 for −0.
func floatOfHead(h uint64) float64 {
	if h>>63 == 0 {
		return math.Float64frombits(^h)
	}
	return math.Float64frombits(h &^ (1 << 63))
}

// nth returns the key at position n, counted from 0, in ascending order. It finds the key byte by
// byte, so that its time is proportional to the number of keys, even for the least favourable order
// of the keys.
func nth(keys []uint64, n int) uint64 {
	var found, known uint64 // the bytes of the key found so far, and a mask of their places
	for shift := 56; shift >= 0; shift -= 8 {
		var counts [256]int
		for _, k := range keys {
			if k&known == found {
				counts[byte(k>>shift)]++
			}
		}
		b := 0
		for n >= counts[b] {
			n -= counts[b]
			b++
		}
		found |= uint64(b) << shift
		known |= 0xff << shift
	}
	return found
}
