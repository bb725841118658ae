// Package e2e tests the built commands as processes of their own, over loopback and on the disk:
// starting and stopping, deployment files, proxies, hostile clients and full disks.
//
// The commands are built once, by TestMain. Tests of one package stand beside its code; a test
// belongs here when it needs two processes, or a signal, or the server as an operator runs it.
package e2e

// The tests build the commands and do not import them. These imports make go test run the tests
// again, and not take a stored result, after a change of the server.
import (
	_ "github.com/omnigraph-go/omnigraph/generated/code"
	_ "github.com/omnigraph-go/omnigraph/server/launch"
)
