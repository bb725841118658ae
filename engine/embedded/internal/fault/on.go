//go:build faults

package fault

// current is the fault that is on.
var current Fault

// Set turns the fault on and all others off; None turns all off. No graph may be in use meanwhile.
func Set(f Fault) { current = f }

// On reports whether the fault is on.
func On(f Fault) bool { return f == current }
