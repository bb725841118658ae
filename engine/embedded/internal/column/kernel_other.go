//go:build !amd64

package column

// between32 sets the bits of the values x for which x-lo ≤ width, 64 values per word.
func between32(found []uint64, x []int32, lo, width uint32) { between32Go(found, x, lo, width) }
