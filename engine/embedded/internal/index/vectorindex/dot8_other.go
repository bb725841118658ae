//go:build !amd64

package vectorindex

// dot8 returns the inner product of two vectors of codes with equal lengths.
func dot8(x, y, _ []int8) int32 { return dotGo(x, y) }

// dot16 returns the inner product of a vector of codes and a vector of 16-bit numbers.
func dot16(x []int8, y []int16, _ []int8) int32 { return dotGo(x, y) }
