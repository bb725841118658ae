//go:build fault_opposite

package exec

// These constants are explained in fault_opposites.go.
const (
	termsAdded    = false
	oppositeLoose = true
)
