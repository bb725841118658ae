package server_test

import "github.com/omnigraph-go/omnigraph/internal/clock/clocktest"

// testClock is the clock of the servers, graphs and issuers of these tests. Each run starts
// at the same date.
var testClock = clocktest.Running(clocktest.Start)
