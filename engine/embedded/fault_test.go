//go:build fault_tombstone

package embedded_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/enginetest"
)

// overheard is a test whose failures are looked at instead of counted.
type overheard struct {
	testing.TB
	failed bool
}

func (o *overheard) Errorf(format string, args ...any) {
	o.failed = true
	o.TB.Logf(strings.ReplaceAll(format, "%s", "%.2000s"), args...)
}

// TestFaultIsFound expects the random comparison to find the fault that the build tag
// seeds: go test -tags fault_tombstone -run TestFaultIsFound ./engine/embedded.
func TestFaultIsFound(t *testing.T) {
	o := &overheard{TB: t}
	n := enginetest.RunRandom(o, openInMemory, enginetest.Options{Seed: 1, Cases: 10_000})
	if !o.failed {
		t.Errorf("not found in %d statements", n)
	}
}
