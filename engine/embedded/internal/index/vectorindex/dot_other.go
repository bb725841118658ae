//go:build !amd64

package vectorindex

// dots is Dots for at least one sum. The length of y is a positive multiple of DotStep.
func dots(sums []int32, codes []int8, y []int16) { dotsGo(sums, codes, y) }
