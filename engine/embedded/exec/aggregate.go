package exec

import (
	"encoding/binary"
	"math"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// aggregate is a bound aggregate.
type aggregate struct {
	src  plan.Agg
	fn   plan.AggFunc
	rows bool // counts rows
	ex   *expr
	typ  value.Type // of the result
	slot int
}

// accumulator holds the state of one aggregate, by group.
type accumulator struct {
	counts []int64
	sums   []exactSum
	best   []value.Value
}

func (a *accumulator) reset() {
	a.counts = a.counts[:0]
	a.sums = a.sums[:0]
	clear(a.best)
	a.best = a.best[:0]
}

// group adds the rows of a frame to their groups.
func (st *state) group(f *frame) error {
	ids, err := st.assign(f)
	if err != nil {
		return err
	}
	for k := range st.aggs {
		st.accumulate(&st.aggs[k], &st.sums[k], f, ids)
	}
	return nil
}

func (st *state) addGroup() {
	for k := range st.sums {
		a := &st.sums[k]
		a.counts = append(a.counts, 0)
		switch st.aggs[k].fn {
		case plan.Sum, plan.Avg:
			a.sums = append(a.sums, exactSum{})
		case plan.Min, plan.Max:
			a.best = append(a.best, value.Null)
		case plan.Count:
		}
	}
}

func (st *state) accumulate(a *aggregate, to *accumulator, f *frame, ids []uint32) {
	if a.rows {
		for _, id := range ids {
			to.counts[id]++
		}
		return
	}
	vec := st.eval(a.ex, f)
	for i, id := range ids {
		if vec.IsNull(i) {
			continue
		}
		to.counts[id]++
		switch a.fn {
		case plan.Count:
		case plan.Sum, plan.Avg:
			switch vec.Type.Kind.Storage() {
			case value.InFloat32, value.InFloat64:
				to.sums[id].add(vec.Floats[i])
			case value.InUint64:
				to.sums[id].addUint(uint64(vec.Ints[i]))
			default:
				to.sums[id].addInt(vec.Ints[i])
			}
		case plan.Min, plan.Max:
			v := vec.Value(i)
			best := &to.best[id]
			c, ok := value.Compare(v, *best)
			if best.IsNull() || ok && (c < 0) == (a.fn == plan.Min) && c != 0 {
				*best = v
			}
		}
	}
}

// result writes an aggregate's results into vec, for the given groups, or for all groups if
// groups is nil.
func (st *state) result(k int, groups []uint32, vec *column.Vec) {
	a, from := &st.aggs[k], &st.sums[k]
	n := len(groups)
	if groups == nil {
		n = st.grouped
	}
	vec.Reset(a.typ, n)
	for i := range n {
		g := i
		if groups != nil {
			g = int(groups[i])
		}
		switch {
		case a.fn == plan.Count:
			vec.Ints[i] = from.counts[g]
		case from.counts[g] == 0:
			vec.SetNull(i)
		case a.fn == plan.Sum:
			vec.Floats[i] = from.sums[g].value()
		case a.fn == plan.Avg:
			vec.Floats[i] = from.sums[g].value() / float64(from.counts[g])
		default:
			vec.Set(i, from.best[g])
		}
	}
}

// appendGroupKey appends an encoding of value i to dst. Two values have the same encoding
// exactly if they are equal.
func appendGroupKey(dst []byte, v *column.Vec, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if v.Type.List {
		return appendListKey(dst, v.Lists[i])
	}
	switch v.Type.Kind.Storage() {
	case value.InText, value.InBytes:
		dst = binary.AppendUvarint(dst, uint64(len(v.Strings[i])))
		return append(dst, v.Strings[i]...)
	case value.InFloat32, value.InFloat64:
		return binary.LittleEndian.AppendUint64(dst, floatKey(v.Floats[i]))
	case value.InVector:
		for _, x := range v.Vectors[i] {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
		return dst
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v.Ints[i]))
}

func appendListKey(dst []byte, v value.Value) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
	for _, e := range v.Elems() {
		switch {
		case e.Kind() == value.String:
			dst = binary.AppendUvarint(dst, uint64(len(e.Str())))
			dst = append(dst, e.Str()...)
		case e.Kind().IsFloat():
			dst = binary.LittleEndian.AppendUint64(dst, floatKey(e.Float()))
		default:
			dst = binary.LittleEndian.AppendUint64(dst, e.Bits())
		}
	}
	return dst
}

// floatKey returns the bits of f, and the same bits for −0 and 0, because they are equal.
func floatKey(f float64) uint64 {
	if f == 0 {
		return 0
	}
	return math.Float64bits(f)
}

// exactSum adds floats without rounding errors, so that the sum does not depend on their
// order. It keeps non-overlapping partial sums (Shewchuk, Adaptive Precision Floating-Point
// Arithmetic, 1997) and rounds once, at the end.
type exactSum struct {
	parts   []float64
	special float64 // the sum of the infinities and NaNs
}

func (s *exactSum) addInt(n int64) {
	s.add(float64(n>>32) * (1 << 32))
	s.add(float64(n & (1<<32 - 1)))
}

func (s *exactSum) addUint(n uint64) {
	s.add(float64(n>>32) * (1 << 32))
	s.add(float64(n & (1<<32 - 1)))
}

func (s *exactSum) add(x float64) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		s.special += x
		return
	}
	i := 0
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		hi := x + y
		if math.IsInf(hi, 0) {
			s.special += hi
			return
		}
		if lo := y - (hi - x); lo != 0 {
			s.parts[i] = lo
			i++
		}
		x = hi
	}
	s.parts = append(s.parts[:i], x)
}

// value rounds the sum half to even: when the second partial sum is exactly half a unit,
// the sign of the third decides.
func (s *exactSum) value() float64 {
	if s.special != 0 || math.IsNaN(s.special) {
		return s.special
	}
	n := len(s.parts)
	if n == 0 {
		return 0
	}
	n--
	hi := s.parts[n]
	var lo float64
	for n > 0 {
		n--
		x := hi
		y := s.parts[n]
		hi = x + y
		lo = y - (hi - x)
		if lo != 0 {
			break
		}
	}
	if n > 0 && (lo < 0 && s.parts[n-1] < 0 || lo > 0 && s.parts[n-1] > 0) {
		y := lo * 2
		x := hi + y
		if y == x-hi {
			hi = x
		}
	}
	return hi + 0
}
