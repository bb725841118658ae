// Package parallel spreads the work of one call over the processors, as if the calling
// goroutine did it: who calls waits, and gets the panic of a part as its own.
package parallel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Ranges calls f for consecutive ranges that cover n, at the same time, and waits. There
// are most ranges at the most, and fewer when they would be shorter than least. It returns
// how many there are; k counts them.
func Ranges(n, most, least int, f func(k, from, to int)) int {
	parts := max(1, min(most, n/max(1, least)))
	tasks := make([]func(), parts)
	for k := range parts {
		tasks[k] = func() { f(k, k*n/parts, (k+1)*n/parts) }
	}
	Do(tasks...)
	return parts
}

// Do calls tasks, as many at the same time as there are processors, and waits. When some
// panic, Do panics with the value of one of them after all have ended; what has not
// begun by then is left out. A task treats faults in mapped memory as its caller does,
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
	for range min(runtime.GOMAXPROCS(0), len(tasks)) - 1 {
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
