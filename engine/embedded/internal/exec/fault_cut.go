//go:build fault_cut

package exec

// These constants are explained in fault_having.go.
const (
	havingLost = false
	cutBefore  = true
)
