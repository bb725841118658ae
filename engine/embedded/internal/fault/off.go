//go:build !faults

package fault

// On reports whether the fault is on.
func On(Fault) bool { return false }
