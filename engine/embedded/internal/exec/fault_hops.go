//go:build fault_hops

package exec

const hopsLost = 1
