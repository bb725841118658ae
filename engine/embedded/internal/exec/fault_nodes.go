//go:build fault_nodes

package exec

// These constants are explained in fault_aggregates.go.
const (
	nullsDistinct = false
	keepsLast     = false
	nodesUnsorted = true
)
