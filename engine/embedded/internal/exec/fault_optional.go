//go:build !fault_unmatched && !fault_nulls

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_unmatched sets
// unmatchedLost: if an `optional` block has no match for any row of a frame, these rows are lost. The build tag
// fault_nulls sets nullsCounted: the count of an optional variable counts the rows in which it is null.
const (
	unmatchedLost = false
	nullsCounted  = false
)
