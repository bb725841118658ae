//go:build fault_members

package exec

// These constants are explained in fault_conditions.go.
const (
	droppedHolds = false
	membersLost  = 1
)
