package vectorindex

// DotStep is a divisor of the number of components of every vector that Dots accepts.
const DotStep = 32

// Dots computes the inner products of y with len(sums) vectors, which lie one after the other in
// `codes`, and writes the products to sums. len(y) must be a multiple of DotStep. The results are
// exact if 127 × len(y) × the greatest absolute component of y is less than 2³¹.
func Dots(sums []int32, codes []int8, y []int16) {
	if len(sums) == 0 || len(y) == 0 {
		clear(sums)
		return
	}
	if len(y)%DotStep != 0 {
		panic("vectorindex: the length of a vector is not a multiple of DotStep")
	}
	dots(sums, codes[:len(sums)*len(y)], y)
}

// dotsGo computes the results of Dots in plain Go, for any CPU.
func dotsGo(sums []int32, codes []int8, y []int16) {
	for i := range sums {
		x := codes[i*len(y):][:len(y)]
		var a, b, c, d int32
		for k := 0; k+4 <= len(x); k += 4 {
			p, q := (*[4]int8)(x[k:]), (*[4]int16)(y[k:])
			a += int32(p[0]) * int32(q[0])
			b += int32(p[1]) * int32(q[1])
			c += int32(p[2]) * int32(q[2])
			d += int32(p[3]) * int32(q[3])
		}
		sums[i] = a + b + c + d
	}
}
