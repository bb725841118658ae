//go:build faults

package embedded_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
)

// faultCases is the largest number of random statements until a fault is found.
const faultCases = 20_000

// faultName is the environment variable that contains the name of a fault, for the process that must find it.
const faultName = "OMNIGRAPH_FAULT"

// overheard is a testing.TB that records failures instead of failing.
type overheard struct {
	testing.TB
	heard string
}

func (o *overheard) Errorf(format string, args ...any) {
	o.heard += fmt.Sprintf(format, args...)
}

// TestFaultsAreFound expects the random comparison to find faults of the engine, and nothing in the same
// statements without a fault. It looks for every third fault, or for all with -embedded.long. Only one fault can be on
// in a process, so each is searched for in a process of its own.
func TestFaultsAreFound(t *testing.T) {
	if name := os.Getenv(faultName); name != "" {
		findFault(t, name)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	every := long()
	var most atomic.Int64 // the largest number of statements until a fault was found
	t.Run("faults", func(t *testing.T) {
		for i, f := range fault.All() {
			if !every && i%3 != 0 {
				continue
			}
			t.Run(f.String(), func(t *testing.T) {
				t.Parallel()
				child := exec.CommandContext(t.Context(), self, "-test.run=^TestFaultsAreFound$")
				child.Env = append(os.Environ(), faultName+"="+f.String())
				out, err := child.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				var n int64
				if _, err := fmt.Sscanf(string(out), "found after %d statements", &n); err != nil {
					t.Fatalf("not found: %s", out)
				}
				for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
				}
				t.Logf("%.400s", out)
			})
		}
	})
	enginetest.RunRandom(t, openLagging, enginetest.Options{Seed: 1, Cases: int(most.Load()), Workers: runtime.GOMAXPROCS(0)})
}

// findFault turns a fault on, and prints after how many statements the random comparison finds it.
func findFault(t *testing.T, name string) {
	i := slices.IndexFunc(fault.All(), func(f fault.Fault) bool { return f.String() == name })
	if i < 0 {
		t.Fatalf("the fault %s does not exist", name)
	}
	fault.Set(fault.All()[i])
	if fault.On(fault.MainIgnored) { // few statements without rights of their own can find it
		if err := flag.Set("enginetest.rights", "100"); err != nil {
			t.Fatal(err)
		}
	}
	o := &overheard{TB: t}
	n := enginetest.RunRandom(o, openLagging, enginetest.Options{Seed: 1, Cases: faultCases})
	if o.heard == "" {
		fmt.Printf("nothing in %d statements\n", n)
		return
	}
	difference, _, _ := strings.Cut(o.heard, "\nschema:")
	fmt.Printf("found after %d statements: %s\n", n, difference)
}
