package vectorindex

import "golang.org/x/sys/cpu"

// dot8 returns the inner product of two vectors of codes. Their lengths are equal and a multiple of
// DotStep. It prefetches the vector `ahead`, which has the same length and is probably an argument
// of the next call.
func dot8(x, y, ahead []int8) int32 {
	if !cpu.X86.HasAVX2 {
		return dotGo(x, y)
	}
	return dot8AVX2(&x[0], &y[0], len(x), &ahead[0])
}

// dot16 is dot8 for a vector y of 16-bit numbers.
func dot16(x []int8, y []int16, ahead []int8) int32 {
	if !cpu.X86.HasAVX2 {
		return dotGo(x, y)
	}
	return dot16AVX2(&x[0], &y[0], len(x), &ahead[0])
}

// dot8AVX2 is dot8 for vectors of dim components. REQUIRES: the CPU supports AVX2.
//
//go:noescape
func dot8AVX2(x, y *int8, dim int, ahead *int8) int32

// dot16AVX2 is dot16 for vectors of dim components. REQUIRES: the CPU supports AVX2.
//
//go:noescape
func dot16AVX2(x *int8, y *int16, dim int, ahead *int8) int32
