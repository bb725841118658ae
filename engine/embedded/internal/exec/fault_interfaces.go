//go:build !fault_types && !fault_ids

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_types sets
// typesLost to 1: a variable over an interface does not range over the last of several types. The
// build tag fault_ids sets typesIgnored: nodes of different types are the same node if their ids are equal.
const (
	typesLost    = 0
	typesIgnored = false
)
