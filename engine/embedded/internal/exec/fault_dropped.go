//go:build fault_dropped

package exec

const (
	droppedHolds = true
	membersLost  = 0
)
