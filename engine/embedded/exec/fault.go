//go:build !fault_hops

package exec

// hopsLost is what a walk falls short of its upper bound: a fault of one hop, to be found
// by the random comparison, with the build tag fault_hops.
const hopsLost = 0
