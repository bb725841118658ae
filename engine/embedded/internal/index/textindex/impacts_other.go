//go:build !amd64

package textindex

// impactsFrom returns a set of one bit for each of the impacts of a block, of which there are 1 to 64:
// bit i is set if impact i is not lower than `least`.
func impactsFrom(impacts []byte, least uint8) uint64 { return impactsFromGo(impacts, least) }
