//go:build fault_upsert

package exec

// These constants are explained in fault_writes.go.
const (
	upsertReplaces = true
	blockSees      = false
)
