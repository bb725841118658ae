//go:build !fault_factor && !fault_closing

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_factor sets optionalLost: an `optional`
// block that is counted as a factor drops the rows for which it has no match. The build tag fault_closing sets
// closingOpen: the last variable of a pattern is counted without a check of its other traversals.
const (
	optionalLost = false
	closingOpen  = false
)
