package embedded

// Sparse returns the options with tables rewritten when they have more than n holes.
func (o Options) Sparse(n uint32) Options {
	o.sparse = n
	return o
}

// Indexed returns the options with indexes stored for tables of at least n ordinals.
func (o Options) Indexed(n uint32) Options {
	o.indexed = n
	return o
}
