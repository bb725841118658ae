//go:build !fault_record

package exec

// fieldsShifted is a deliberate fault, which the random comparison must find: a field of a record has the value of the
// next field. The build tag fault_record sets it.
const fieldsShifted = false
