//go:build generate

// Package queries holds the sources of this repository's own graph. go generate visits packages in
// the order of their paths. The directive below is in this folder so that go generate has finished
// with generated/ before gq deletes files from it.
package queries

//go:generate go run ../cmd/gq generate
