//go:build !fault_distinct && !fault_collect && !fault_nodes

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_distinct sets nullsDistinct:
// count(distinct …) counts null as a value. The build tag fault_collect sets keepsLast: collect(distinct …) keeps the
// last of several equal values instead of the first. The build tag fault_nodes sets nodesUnsorted: collect lists nodes
// in the order in which the rows arrive.
const (
	nullsDistinct = false
	keepsLast     = false
	nodesUnsorted = false
)
