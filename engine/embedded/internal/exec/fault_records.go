//go:build !fault_record && !fault_record_last

package exec

// Deliberate faults, which the random comparison must find. The build tag fault_record sets fieldsShifted: a field of a
// record has the value of the next field. The build tag fault_record_last sets recordsLost to 1: a `for` block does not
// run for the last record of a list.
const (
	fieldsShifted = false
	recordsLost   = 0
)
