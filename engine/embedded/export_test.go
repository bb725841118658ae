package embedded

// Sparse returns the options, changed so that a table with more than n holes is rewritten.
func (o Options) Sparse(n uint32) Options {
	o.sparse = n
	return o
}

// Indexed returns the options, changed so that indexes are stored for tables of at least n
// ordinals.
func (o Options) Indexed(n uint32) Options {
	o.indexed = n
	return o
}

// Spilling returns the options with a load that keeps at most memory bytes of rows in memory and
// puts at most segment bytes of a type's rows into one segment. It stores all indexes, and builds
// them in temporary files from the given number of entities on.
func (o Options) Spilling(memory, segment int64, entities uint32) Options {
	o.loadMemory, o.loadSegment, o.keepIndexes, o.spillIndexes = memory, segment, 1, entities
	return o
}
