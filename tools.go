//go:build tools

// Package omnigraph pins the tools that development needs.
package omnigraph
