//go:build fault_ids

package exec

// These constants are explained in fault_interfaces.go.
const (
	typesLost    = 0
	typesIgnored = true
)
