//go:build fault_closing

package exec

// These constants are explained in fault_factors.go.
const (
	optionalLost = false
	closingOpen  = true
)
