package textindex

import "golang.org/x/sys/cpu"

// impactsFrom returns a set of one bit for each of the impacts of a block, of which there are 1 to 64:
// bit i is set if impact i is not lower than `least`.
func impactsFrom(impacts []byte, least uint8) uint64 {
	if len(impacts) < blockSize || !cpu.X86.HasAVX2 {
		return impactsFromGo(impacts, least)
	}
	return impactsFromAVX2(&impacts[0], least)
}

// impactsFromAVX2 is impactsFrom for 64 impacts. REQUIRES: the CPU supports AVX2.
//
//go:noescape
func impactsFromAVX2(impacts *byte, least uint8) uint64
