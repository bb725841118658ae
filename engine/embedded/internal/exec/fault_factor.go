//go:build fault_factor

package exec

// These constants are explained in fault_factors.go.
const (
	optionalLost = true
	closingOpen  = false
)
