//go:build fault_block_limit

package exec

// These constants are explained in fault_subquery.go.
const (
	dropsLastRow = false
	limitShared  = true
)
