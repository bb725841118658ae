package index

// DotStep is what the number of components that Dots takes is a multiple of.
const DotStep = 32

// Dots computes the inner products of a vector with others, which lie one after the
// other in codes: sums gets one for each. len(y) is a multiple of DotStep, and 127 times
// its length times its greatest component is less than 2³¹, so that they are exact.
func Dots(sums []int32, codes []int8, y []int16) {
	if len(sums) == 0 || len(y) == 0 {
		clear(sums)
		return
	}
	if len(y)%DotStep != 0 {
		panic("index: the length of a vector is no multiple of DotStep")
	}
	dots(sums, codes[:len(sums)*len(y)], y)
}

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
