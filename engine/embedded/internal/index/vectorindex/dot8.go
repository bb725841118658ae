package vectorindex

// dotGo returns the inner product of a vector of codes and another vector of the same length. The
// result is exact if its absolute value, and that of every partial sum, is less than 2³¹.
func dotGo[T int8 | int16](x []int8, y []T) int32 {
	var a, b int32
	for k := 0; k+2 <= len(x); k += 2 {
		a += int32(x[k]) * int32(y[k])
		b += int32(x[k+1]) * int32(y[k+1])
	}
	return a + b
}
