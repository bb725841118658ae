// Package processors counts the goroutines that may compute at a time, and gives a server slots for those that wait.
package processors

import (
	"os"
	"runtime"
	"sync/atomic"
)

// spareSlots is the number of slots that Spare adds. A load has a goroutine that reads besides those that compute, and one slot
// should stay free then.
const spareSlots = 2

// spare is the number of slots of the scheduler besides those for goroutines that compute.
var spare atomic.Int32

// Count returns the number of goroutines that may compute at a time: GOMAXPROCS without the slots of [Spare].
func Count() int { return max(1, runtime.GOMAXPROCS(0)-int(spare.Load())) }

// Spare adds slots to the Go scheduler (see GOMAXPROCS), so that one is free while a load or a query computes on all processors.
// A free slot polls the network at once, and the operating system prefers its thread. Without it, a request would wait
// for up to 10 ms until the scheduler polls, and as long again until a goroutine that computes makes room.
//
// Spare changes nothing if the variable GOMAXPROCS is set. The returned function removes the slots; until then, the process does not
// follow changes of its processor limit.
func Spare() (remove func()) {
	if os.Getenv("GOMAXPROCS") != "" { // the runtime also treats an empty value as unset
		return func() {}
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareSlots)
	spare.Add(spareSlots)
	return func() {
		runtime.SetDefaultGOMAXPROCS()
		spare.Add(-spareSlots)
	}
}
