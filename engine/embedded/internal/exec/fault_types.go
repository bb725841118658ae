//go:build fault_types

package exec

// These constants are explained in fault_interfaces.go.
const (
	typesLost    = 1
	typesIgnored = false
)
