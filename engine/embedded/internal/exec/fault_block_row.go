//go:build fault_block_row

package exec

// These constants are explained in fault_subquery.go.
const (
	dropsLastRow = true
	limitShared  = false
)
