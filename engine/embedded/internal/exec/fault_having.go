//go:build !fault_having && !fault_cut

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_having sets havingLost: the last
// condition of several in `having` is not tested. The build tag fault_cut sets cutBefore: the number of groups before
// `having` decides whether the limit cuts rows off.
const (
	havingLost = false
	cutBefore  = false
)
