//go:build fault_collect

package exec

// These constants are explained in fault_aggregates.go.
const (
	nullsDistinct = false
	keepsLast     = true
	nodesUnsorted = false
)
