//go:build !fault_block_row && !fault_block_limit

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_block_row sets dropsLastRow: subqueries find
// nothing for the last of several rows. The build tag fault_block_limit sets limitShared: the limit of a `collect` block
// applies to several rows together.
const (
	dropsLastRow = false
	limitShared  = false
)
