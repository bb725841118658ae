//go:build fault_dropped

package exec

// These constants are explained in fault_conditions.go.
const (
	droppedHolds = true
	membersLost  = 0
)
