//go:build !fault_dropped && !fault_members

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_dropped sets
// droppedHolds: a dropped condition in an `any` block keeps every row. The build tag fault_members sets
// membersLost to 1: the last element of a list is not looked up.
const (
	droppedHolds = false
	membersLost  = 0
)
