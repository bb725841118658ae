//go:build !fault_terms && !fault_opposite

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_terms sets termsAdded: each term of a
// count is added, even if it must be subtracted. The build tag fault_opposite sets oppositeLoose: where two variables
// become one, the conditions on the second one are lost.
const (
	termsAdded    = false
	oppositeLoose = false
)
