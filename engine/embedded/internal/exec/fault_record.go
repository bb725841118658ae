//go:build fault_record

package exec

// These constants are explained in fault_records.go.
const (
	fieldsShifted = true
	recordsLost   = 0
)
