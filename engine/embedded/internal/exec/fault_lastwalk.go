//go:build fault_lastwalk

package exec

// These constants are explained in fault_walks.go.
const (
	alternativesLost = 0
	lastWalk         = true
)
