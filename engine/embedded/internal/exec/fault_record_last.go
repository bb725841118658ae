//go:build fault_record_last

package exec

// These constants are explained in fault_records.go.
const (
	fieldsShifted = false
	recordsLost   = 1
)
