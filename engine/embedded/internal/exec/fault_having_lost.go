//go:build fault_having

package exec

// These constants are explained in fault_having.go.
const (
	havingLost = true
	cutBefore  = false
)
