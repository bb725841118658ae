//go:build fault_overlay

package index

const staleOverlay = true
