//go:build !fault_overlay

package index

// staleOverlay makes a place of a hash overlay that has an entry stay as it was when
// another one comes: a fault to be found by the random comparison, with the build tag
// fault_overlay.
const staleOverlay = false
