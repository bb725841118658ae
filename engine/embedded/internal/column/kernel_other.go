//go:build !amd64

package column

func between32(found []uint64, x []int32, lo, width uint32) { between32Go(found, x, lo, width) }
