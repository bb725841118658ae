package column

import "golang.org/x/sys/cpu"

// between32 sets the bits of the values x for which x-lo ≤ width, 64 values per word.
func between32(found []uint64, x []int32, lo, width uint32) {
	if len(found) == 0 {
		return
	}
	if !cpu.X86.HasAVX2 {
		between32Go(found, x, lo, width)
		return
	}
	x = x[:len(found)*64]
	between32AVX2(&found[0], &x[0], len(found), lo, width)
}

// between32AVX2 does the work of between32 for 64*words values. The CPU must support AVX2.
//
//go:noescape
func between32AVX2(found *uint64, x *int32, words int, lo, width uint32)
