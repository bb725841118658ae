//go:build fault_hops

package exec

// hopsLost is explained in fault.go.
const hopsLost = 1
