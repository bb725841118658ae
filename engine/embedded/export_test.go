package embedded

// Sparse returns the options with rewrites of tables that have more than n holes.
func (o Options) Sparse(n uint32) Options {
	o.sparse = n
	return o
}

// Indexed returns the options with indexes that are stored for tables of n ordinals.
func (o Options) Indexed(n uint32) Options {
	o.indexed = n
	return o
}
