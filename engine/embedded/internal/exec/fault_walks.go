//go:build !fault_alternatives && !fault_lastwalk

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_alternatives sets
// alternativesLost to 1: the last of several edge types is not followed. The build tag
// fault_lastwalk sets lastWalk: if there are several shortest walks, a read returns the nodes of a
// walk that does not come first.
const (
	alternativesLost = 0
	lastWalk         = false
)
