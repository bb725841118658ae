package column

// ReadAhead brings a value to the processor's caches. What it returns means nothing.
func (c *Column) ReadAhead(i uint32) uint32 {
	switch {
	case c.code != nil:
		return c.code[i]
	case c.off != nil:
		from, to := c.off[i], c.off[i+1]
		if c.elem == nil && from < to {
			return uint32(c.data[from]) + uint32(c.data[to-1])
		}
		return from
	case c.w32 != nil:
		return uint32(c.w32[i])
	case c.w64 != nil:
		return uint32(c.w64[i])
	}
	return 0
}
