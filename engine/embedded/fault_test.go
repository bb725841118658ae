//go:build faults

package embedded_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
)

// faultCases is the largest number of random statements until a fault is found.
const faultCases = 20_000

// overheard is a testing.TB that records failures instead of failing.
type overheard struct {
	testing.TB
	heard string
}

func (o *overheard) Errorf(format string, args ...any) {
	o.heard += fmt.Sprintf(format, args...)
}

// TestFaultsAreFound expects the random comparison to find each fault of the engine, and nothing in the same
// statements without the fault.
func TestFaultsAreFound(t *testing.T) {
	defer fault.Set(fault.None)
	for _, f := range fault.All() {
		t.Run(f.String(), func(t *testing.T) {
			fault.Set(f)
			o := &overheard{TB: t}
			n := enginetest.RunRandom(o, openInMemory, enginetest.Options{Seed: 1, Cases: faultCases})
			if o.heard == "" {
				t.Fatalf("not found in %d statements", n)
			}
			difference, _, _ := strings.Cut(o.heard, "\nschema:")
			t.Logf("found after %d statements: %.400s", n, difference)
			fault.Set(fault.None)
			enginetest.RunRandom(t, openInMemory, enginetest.Options{Seed: 1, Cases: n})
		})
	}
}
