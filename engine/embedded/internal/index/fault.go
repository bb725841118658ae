//go:build !fault_overlay

package index

// staleOverlay makes Add ignore a new entry of a hash overlay if its bucket is not empty.
// The build tag fault_overlay turns on this deliberate fault, which the random comparison
// test must find.
const staleOverlay = false
