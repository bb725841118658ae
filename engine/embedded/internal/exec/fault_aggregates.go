//go:build !fault_distinct && !fault_collect

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_distinct sets nullsDistinct:
// count(distinct …) counts null as a value. The build tag fault_collect sets keepsLast: collect(distinct …) keeps the
// last of several equal values instead of the first.
const (
	nullsDistinct = false
	keepsLast     = false
)
