//go:build fault_alternatives

package exec

// These constants are explained in fault_walks.go.
const (
	alternativesLost = 1
	lastWalk         = false
)
