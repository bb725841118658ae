//go:build fault_unmatched

package exec

// These constants are explained in fault_optional.go.
const (
	unmatchedLost = true
	nullsCounted  = false
)
