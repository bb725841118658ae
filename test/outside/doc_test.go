// Package outside tests that other modules can do their work with the public packages alone. Each
// folder of testdata is a module of its own, outside of this one, so the go command refuses it an
// internal package:
//
//   - embedding is a program that keeps a graph in a folder, without a server;
//   - metered is an engine by somebody else, with the conformance suite.
//
// The third kind of module, a server with stored queries, is the one that gq init makes; TestInit…
// in cmd/gq tests it.
package outside

// The tests build other modules from these packages and do not import them. These imports make go
// test run the tests again, and not take a stored result, after a change of one of the packages.
import (
	_ "github.com/omnigraph-go/omnigraph/engine/embedded"
	_ "github.com/omnigraph-go/omnigraph/engine/enginetest"
	_ "github.com/omnigraph-go/omnigraph/gq"
)
