// Package parallel spreads the work of one call over the processors, as if the calling goroutine
// did all of it: the caller waits, and if a task panics, the caller panics too.
package parallel

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/internal/processors"
)

// Processors returns the number of goroutines of one call that may compute at a time.
func Processors() int { return processors.Count() }

// Ranges splits [0, n) into consecutive ranges, calls f for them concurrently and waits. There are
// at most `most` ranges, and fewer if a range would otherwise be shorter than `least`. The argument
// k of f is the number of the range. Ranges returns the number of ranges.
func Ranges(n, most, least int, f func(k, from, to int)) int {
	parts := max(1, min(most, n/max(1, least)))
	tasks := make([]func(), parts)
	for k := range parts {
		tasks[k] = func() { f(k, k*n/parts, (k+1)*n/parts) }
	}
	Do(tasks...)
	return parts
}

// Do runs the tasks concurrently, at most Processors at a time, and waits for them. If a
// task panics, Do starts no further tasks, waits for the running ones and panics with the
// value of one of the panics. Each task runs with the caller's setting for memory faults;
// see [debug.SetPanicOnFault].
func Do(tasks ...func()) {
	if len(tasks) == 1 {
		tasks[0]()
		return
	}
	faults := debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(faults)
	var (
		wg     sync.WaitGroup
		next   atomic.Int64
		failed atomic.Pointer[any]
	)
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				failed.CompareAndSwap(nil, &v)
			}
		}()
		for failed.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(tasks) {
				return
			}
			tasks[i]()
		}
	}
	for range min(Processors(), len(tasks)) - 1 {
		wg.Go(func() {
			debug.SetPanicOnFault(faults)
			work()
		})
	}
	work()
	wg.Wait()
	if v := failed.Load(); v != nil {
		panic(*v)
	}
}
