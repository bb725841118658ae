//go:build !fault_upsert && !fault_block

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_upsert sets upsertReplaces: an upsert
// clears the properties that it does not assign. The build tag fault_block sets blockSees: a statement of a block reads
// the changes of the statements before it in the block.
const (
	upsertReplaces = false
	blockSees      = false
)
