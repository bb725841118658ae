// Package e2e tests the built commands as processes of their own, over loopback and on the disk:
// starting and stopping, deployment files, proxies, hostile clients and full disks.
//
// TestMain builds the commands once. A test that needs only one package is in the folder of that
// package. A test belongs here if it needs two processes, a signal, or the server as an operator
// runs it.
package e2e

// The tests build the commands and do not import them. Because of these imports, go test runs the
// tests again after a change of the server, instead of printing a cached result.
import (
	_ "github.com/omnigraph-go/omnigraph/generated/code"
	_ "github.com/omnigraph-go/omnigraph/server/launch"
)
