package store

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestCrash cuts the power at every durable operation of a history.
func TestCrash(t *testing.T) {
	slow.Test(t)
	seeds := uint64(8)
	for n := 0; ; n++ {
		mem := fs.NewMem()
		mem.CrashAfter(n)
		h := newHistory()
		h.run(mem)
		for seed := range seeds {
			after := mem.Crash(seed*1_000_003 + uint64(n))
			if !t.Run(fmt.Sprint(n, "/", seed), func(t *testing.T) { h.checkTwice(t, after) }) {
				return
			}
		}
		if mem.Ops() < n {
			if n < 150 {
				t.Errorf("the history has %d durable operations, too few for a complete history", n)
			}
			return
		}
	}
}

// TestCrashDuringRecovery cuts the power again at every durable operation of the Open
// after a crash.
func TestCrashDuringRecovery(t *testing.T) {
	for n := 5; n < 200; n += 7 {
		mem := fs.NewMem()
		mem.CrashAfter(n)
		h := newHistory()
		h.run(mem)
		for seed := range uint64(3) {
			for k := 0; ; k++ {
				after := mem.Crash(seed)
				after.CrashAfter(k)
				s, _, err := Open(t.Context(), after, "/g", tiny)
				whole := !errors.Is(err, fs.ErrCrashed)
				if s != nil {
					_ = s.Close()
				}
				if !t.Run(fmt.Sprint(n, "/", seed, "/", k), func(t *testing.T) { h.checkTwice(t, after.Crash(seed+1)) }) {
					return
				}
				if whole {
					break
				}
			}
		}
	}
}

// TestFaults makes every operation of a history fail, in several ways, and checks what a
// reopen finds, with and without a power failure in between.
func TestFaults(t *testing.T) {
	faults := map[string]func(op faultfs.Op) *faultfs.Fault{
		"fails":      func(faultfs.Op) *faultfs.Fault { return &faultfs.Fault{Err: syscall.EIO} },
		"reply lost": func(faultfs.Op) *faultfs.Fault { return &faultfs.Fault{Err: syscall.EIO, Apply: true} },
		"disk full": func(op faultfs.Op) *faultfs.Fault {
			if op.Kind != faultfs.OpWrite && op.Kind != faultfs.OpCreate {
				return nil
			}
			return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 2}
		},
		"sync lies afterwards": func(op faultfs.Op) *faultfs.Fault {
			if op.Kind != faultfs.OpSync {
				return nil
			}
			return &faultfs.Fault{Err: syscall.EIO, Lose: true}
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				mem := fs.NewMem()
				faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
					if op.N == n {
						return fault(op)
					}
					return nil
				})
				h := newHistory()
				h.run(faulty)
				crashed := mem.Crash(uint64(n))
				ok := t.Run(fmt.Sprint(n, "/crash"), func(t *testing.T) { h.checkTwice(t, crashed) }) &&
					t.Run(fmt.Sprint(n, "/reopen"), func(t *testing.T) { h.checkTwice(t, mem) })
				if !ok || faulty.Ops() < n {
					return
				}
			}
		})
	}
}

// TestDiskStaysFull makes every write and creation fail, from some operation on, as on a
// full disk.
func TestDiskStaysFull(t *testing.T) {
	for n := 1; n < 300; n += 3 {
		mem := fs.NewMem()
		faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if op.N >= n && (op.Kind == faultfs.OpWrite || op.Kind == faultfs.OpCreate) {
				return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 3}
			}
			return nil
		})
		h := newHistory()
		h.run(faulty)
		if !t.Run(fmt.Sprint(n), func(t *testing.T) { h.checkTwice(t, mem.Crash(uint64(n))) }) {
			return
		}
	}
}
