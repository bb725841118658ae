//go:build fault_nulls

package exec

// These constants are explained in fault_optional.go.
const (
	unmatchedLost = false
	nullsCounted  = true
)
