//go:build fault_block_row

package exec

// These constants are explained in fault_subquery.go.
const (
	rowLost     = true
	limitShared = false
)
