package embedded

// Sparse returns the options with rewrites of tables that have more than n holes.
func (o Options) Sparse(n uint32) Options {
	o.sparse = n
	return o
}
