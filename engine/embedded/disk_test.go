package embedded

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// diskFaults lists the ways in which a disk fails. Each begins with the n-th operation on the disk.
var diskFaults = []struct {
	name   string
	inject func(op faultfs.Op, n int) *faultfs.Fault
}{
	{"an operation fails", func(op faultfs.Op, n int) *faultfs.Fault {
		if op.N != n {
			return nil
		}
		return &faultfs.Fault{Err: syscall.EIO}
	}},
	{"a reply is lost", func(op faultfs.Op, n int) *faultfs.Fault {
		if op.N != n {
			return nil
		}
		return &faultfs.Fault{Err: syscall.EIO, Apply: true}
	}},
	{"a write is torn", func(op faultfs.Op, n int) *faultfs.Fault {
		if op.N != n || op.Kind != faultfs.OpWrite {
			return nil
		}
		return &faultfs.Fault{Err: syscall.EIO, Write: op.Len / 2}
	}},
	{"a sync loses what was written", func(op faultfs.Op, n int) *faultfs.Fault {
		if op.N != n || op.Kind != faultfs.OpSync {
			return nil
		}
		return &faultfs.Fault{Err: syscall.EIO, Lose: true}
	}},
	{"the disk is full for a while", func(op faultfs.Op, n int) *faultfs.Fault {
		if op.N < n || op.N > n+6 || op.Kind != faultfs.OpWrite && op.Kind != faultfs.OpCreate {
			return nil
		}
		return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 3}
	}},
	{"the disk stays full", func(op faultfs.Op, n int) *faultfs.Fault {
		if op.N < n || op.Kind != faultfs.OpWrite && op.Kind != faultfs.OpCreate {
			return nil
		}
		return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 3}
	}},
}

var longForms = flag.Bool("embedded.long", false, "run the long forms of the tests: let each operation of the disk fail in every way, damage every byte, and run the suite for every way to store rows")

// TestDiskFaults makes the disk fail at half of the operations of the scripts. A call that fails must
// leave nothing behind, unless its error says that the outcome is unknown. Readers must continue to
// see the durable data. A later Open, with or without a power failure before it, must find one of
// the states that the replies allow. Each of these operations fails in one way only; with
// -embedded.long, every operation fails in every way. With the race detector or -short, fewer fail.
func TestDiskFaults(t *testing.T) {
	slow.Test(t)
	half := rand.IntN(2)
	t.Logf("operations n with n/%d%%2 = %d fail, unless all do", len(diskFaults), half)
	for _, s := range scripts() {
		states := s.states(t)
		_, ops := s.ops()
		for k, fault := range diskFaults {
			t.Run(s.name+"/"+fault.name, func(t *testing.T) {
				t.Parallel()
				for _, op := range ops {
					n := op.N
					if fault.inject(op, n) == nil || !*longForms && n%len(diskFaults) != k {
						continue
					}
					if raced && n%23 != 0 {
						continue
					}
					if !raced && !*longForms && n/len(diskFaults)%2 != half {
						continue
					}
					mem := fs.NewMem()
					faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault { return fault.inject(op, n) })
					what := fmt.Sprintf("operation %d", n)
					found := s.runOn(t, faulty, states, what)
					crashed := mem.Crash(uint64(n))
					checkReopened(t, s, mem, found, what)
					checkReopened(t, s, crashed, found, what+", then a crash")
				}
			})
		}
	}
}

// runOn runs the calls of a script on a disk that may fail. It repeats each call that fails once,
// as long as the graph is usable. It returns the states that a reopen may find.
func (s script) runOn(t *testing.T, fsys fs.FS, states []string, what string) []string {
	t.Helper()
	g, err := Create(context.Background(), fsys, dir, "// people", people(), crashOptions)
	if err != nil {
		return allowed(states, -1)
	}
	defer g.Close()
	for i, d := range s.deeds {
		err := d.do(g)
		for range 2 {
			if err == nil {
				break
			}
			if got := s.dump(g); toReaders(got) != toReaders(states[i]) {
				t.Fatalf("%s: %s, deed %d, fails (%v), and readers see\n%s\nwant\n%s", what, d.call, i+1, err, got, states[i])
			}
			var typed engine.Error
			if !errors.As(err, &typed) && d.call != checkpoint.call {
				t.Errorf("%s: %s, deed %d: %v (%T) is not an error type of package engine", what, d.call, i+1, err, err)
			}
			if unknown := (*engine.Indeterminate)(nil); errors.As(err, &unknown) {
				return states[i : i+2]
			}
			err = d.do(g)
		}
		if err != nil {
			return states[i : i+1]
		}
	}
	return states[len(states)-1:]
}
