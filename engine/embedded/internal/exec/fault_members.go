//go:build fault_members

package exec

const (
	droppedHolds = false
	membersLost  = 1
)
