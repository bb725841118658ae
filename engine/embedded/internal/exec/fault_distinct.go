//go:build fault_distinct

package exec

// These constants are explained in fault_aggregates.go.
const (
	nullsDistinct = true
	keepsLast     = false
	nodesUnsorted = false
)
