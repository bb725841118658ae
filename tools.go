//go:build tools || generate

// Package omnigraph pins the tools that development needs.
package omnigraph

//go:generate go run ./cmd/gq generate
