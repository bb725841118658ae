//go:build fault_draft

package embedded

// draftKeysLost makes the graph forget the idempotency keys of a draft when the draft ends.
const draftKeysLost = true
