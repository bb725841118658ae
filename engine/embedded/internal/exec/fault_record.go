//go:build fault_record

package exec

// fieldsShifted is explained in fault_records.go.
const fieldsShifted = true
