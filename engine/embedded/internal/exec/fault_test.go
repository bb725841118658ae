//go:build faults

package exec_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// faultName is the environment variable with the name of the fault that a process turns on before its tests.
const faultName = "OMNIGRAPH_FAULT"

func TestMain(m *testing.M) {
	for _, f := range fault.All() {
		if f.String() == os.Getenv(faultName) {
			fault.Set(f)
		}
	}
	os.Exit(m.Run())
}

// TestOperatorsFindFaults runs [TestOperators] with each fault in the operators, in a process of its own. At least nine of
// ten faults must make it fail.
func TestOperatorsFindFaults(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	there := faultsOfOperators(t)
	var found, all atomic.Int32
	t.Run("faults", func(t *testing.T) {
		running := make(chan struct{}, runtime.GOMAXPROCS(0))
		for _, f := range fault.All() {
			if !there[strings.ReplaceAll(f.String(), "_", "")] {
				continue
			}
			t.Run(f.String(), func(t *testing.T) {
				t.Parallel()
				running <- struct{}{}
				defer func() { <-running }()
				all.Add(1)
				child := exec.CommandContext(t.Context(), self, "-test.run=^TestOperators$", "-test.failfast")
				child.Env = append(os.Environ(), faultName+"="+f.String())
				if out, err := child.CombinedOutput(); err == nil {
					t.Logf("not found")
				} else {
					found.Add(1)
					t.Logf("%.300s", out)
				}
			})
		}
	})
	t.Logf("the tests of the operators find %d of %d faults", found.Load(), all.Load())
	if 10*found.Load() < 9*all.Load() || all.Load() < 40 {
		t.Error("they must find nine of ten, of at least 40")
	}
}

// faultsOfOperators returns the names of the faults in this package and in those below it, in lower case and without
// underscores.
func faultsOfOperators(t *testing.T) map[string]bool {
	use, out := regexp.MustCompile(`fault\.On\(fault\.(\w+)\)`), map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range use.FindAllSubmatch(text, -1) {
			out[strings.ToLower(string(m[1]))] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
