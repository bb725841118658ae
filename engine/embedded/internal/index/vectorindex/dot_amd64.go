package vectorindex

import "golang.org/x/sys/cpu"

// dots is Dots for at least one sum. The length of y is a positive multiple of DotStep.
func dots(sums []int32, codes []int8, y []int16) {
	if !cpu.X86.HasAVX2 {
		dotsGo(sums, codes, y)
		return
	}
	dotsAVX2(&sums[0], &codes[0], &y[0], len(sums), len(y))
}

// dotsAVX2 writes n inner products of vectors of dim components, a multiple of 32. It
// needs AVX2.
//
//go:noescape
func dotsAVX2(sums *int32, codes *int8, y *int16, n, dim int)
