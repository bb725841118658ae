//go:build fault_block

package exec

// These constants are explained in fault_writes.go.
const (
	upsertReplaces = false
	blockSees      = true
)
