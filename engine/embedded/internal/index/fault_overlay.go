//go:build fault_overlay

package index

// staleOverlay makes Add ignore a new entry of a hash overlay if its bucket is not empty.
const staleOverlay = true
