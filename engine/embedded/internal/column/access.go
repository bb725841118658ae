package column

// ReadAhead loads value i into the processor's caches, if there is such a value. The result
// has no meaning. ReadAhead does not rely on any property that only verification
// establishes.
func (c *Column) ReadAhead(i uint32) uint32 {
	if c.pending.Left() {
		return 0
	}
	n := uint64(i)
	switch {
	case n < uint64(len(c.code)):
		return c.code[i]
	case n+1 < uint64(len(c.off)):
		from, to := c.off[i], c.off[i+1]
		if from < to && uint64(to) <= uint64(len(c.data)) {
			return uint32(c.data[from]) + uint32(c.data[to-1])
		}
		return from
	case n < uint64(len(c.w32)):
		return uint32(c.w32[i])
	case n < uint64(len(c.w64)):
		return uint32(c.w64[i])
	}
	return 0
}
