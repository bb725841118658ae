//go:build !fault_draft

package embedded

// draftKeysLost makes the graph forget the idempotency keys of a draft when the draft ends. The build
// tag fault_draft turns on this deliberate fault, which the random comparison must find.
const draftKeysLost = false
