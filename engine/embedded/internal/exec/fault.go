//go:build !fault_hops

package exec

// hopsLost is the number of hops that a walk stops short of its upper bound. The build tag
// fault_hops sets it to 1, so that the random comparison has a fault to find.
const hopsLost = 0
