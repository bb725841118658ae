// Package outside tests that other modules need only the public packages. Each folder of testdata
// is a module of its own outside of this one, so the go command does not let it import an internal
// package:
//
//   - embedding is a program that keeps a graph in a folder, without a server;
//   - metered is an engine by another author, which runs the conformance suite.
//
// The third kind of module, a server with stored queries, is the kind that gq init creates; the
// tests TestInit… in cmd/gq test it.
package outside

// The tests build other modules from these packages and do not import them. Because of these
// imports, go test runs the tests again after a change of one of the packages, instead of printing
// a cached result.
import (
	_ "github.com/omnigraph-go/omnigraph/engine/embedded"
	_ "github.com/omnigraph-go/omnigraph/engine/enginetest"
	_ "github.com/omnigraph-go/omnigraph/gq"
)
