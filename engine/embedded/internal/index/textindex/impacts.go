package textindex

import "encoding/binary"

// impactsFromGo returns a set of one bit for each of at most 64 impacts: bit i is set if impact i is
// not lower than `least`. It compares eight impacts at a time.
func impactsFromGo(impacts []byte, least uint8) (set uint64) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	// Multiplying moves the top bits of eight bytes to the top byte.
	const gather = 0x0102040810204080
	y := uint64(least) * ones
	for i := 0; i < len(impacts); i += 8 {
		var v uint64
		if i+8 <= len(impacts) {
			v = binary.LittleEndian.Uint64(impacts[i:])
		} else {
			for j, impact := range impacts[i:] {
				v |= uint64(impact) << (8 * j)
			}
		}
		// The top bit of a byte of `low` is set if the low 7 bits of that byte of v are at least the
		// low 7 bits of that byte of y.
		low := (v | tops) - (y &^ tops)
		high := (v&^y | ^(v^y)&low) & tops
		set |= (high >> 7 * gather) >> 56 << i
	}
	return set & (^uint64(0) >> (64 - len(impacts)))
}
