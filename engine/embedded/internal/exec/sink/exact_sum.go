package sink

import "math"

// exactSum adds floats without rounding errors, so that the sum does not depend on their
// order. It keeps non-overlapping partial sums (Shewchuk, Adaptive Precision Floating-Point
// Arithmetic, 1997) and rounds once, at the end.
type exactSum struct {
	parts   []float64 // the partial sums
	special float64   // the sum of the infinities and NaNs
}

// addInt adds n exactly: it adds the upper and the lower 32 bits separately.
func (s *exactSum) addInt(n int64) {
	s.add(float64(n>>32) * (1 << 32))
	s.add(float64(n & (1<<32 - 1)))
}

// addUint adds n exactly: it adds the upper and the lower 32 bits separately.
func (s *exactSum) addUint(n uint64) {
	s.add(float64(n>>32) * (1 << 32))
	s.add(float64(n & (1<<32 - 1)))
}

// add adds x to the sum.
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
