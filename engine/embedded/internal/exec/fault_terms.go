//go:build fault_terms

package exec

// These constants are explained in fault_opposites.go.
const (
	termsAdded    = true
	oppositeLoose = false
)
