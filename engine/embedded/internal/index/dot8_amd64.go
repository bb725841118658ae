package index

import "golang.org/x/sys/cpu"

// dot8 returns the inner product of two vectors of codes of one length, a multiple of DotStep. It
// prefetches the vector ahead, which has the same length and is likely the next argument.
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

// dot8AVX2 does the work of dot8 for dim components. The CPU must support AVX2.
//
//go:noescape
func dot8AVX2(x, y *int8, dim int, ahead *int8) int32

// dot16AVX2 does the work of dot16 for dim components. The CPU must support AVX2.
//
//go:noescape
func dot16AVX2(x *int8, y *int16, dim int, ahead *int8) int32
