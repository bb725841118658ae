// Package gcpace makes garbage collections of the Go runtime rarer while a process uses little memory.
package gcpace

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// growthShare bounds the growth of the heap between two collections to a growthShare-th of the memory limit.
const growthShare = 16

const (
	defaultPercent = 100     // of GOGC
	leastHeap      = 4 << 20 // the runtime takes a live heap below this size for as large as this
)

// Space makes collections rarer while the live heap is small. Between two collections the heap grows by at least this
// many bytes, or by a 16th part of the memory limit if that is less. With the default of the runtime, a
// server with a small heap collects some fifty times a second under load. Space sets GOGC again after
// each collection. It changes nothing if the variable GOGC is set. The returned function ends this and sets the default.
func Space(growth int64) (stop func()) {
	if os.Getenv("GOGC") != "" { // the runtime also treats an empty value as unset
		return func() {}
	}
	growth = min(growth, debug.SetMemoryLimit(-1)/growthShare) // -1 only reads the limit
	s := &spacing{growth: uint64(growth), percent: defaultPercent}
	s.collected()
	return s.stop
}

// spacing sets GOGC by the size of the live heap.
type spacing struct {
	growth uint64 // the least growth of the heap between two collections, in bytes

	mu      sync.Mutex
	percent int // of GOGC, as it was set last
	stopped bool
}

// collected sets GOGC for the next collection, and calls itself again after that one.
func (s *spacing) collected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	s.set(gcPercent(live[0].Value.Uint64(), s.growth))
	// Nothing refers to the object, so the next collection runs its cleanup. Objects below 16 bytes share a block, which
	// may stay alive.
	runtime.AddCleanup(new([16]byte), (*spacing).collected, s)
}

// set sets GOGC, if it is not set to this percentage yet: each change stops all goroutines for some microseconds.
func (s *spacing) set(percent int) {
	if percent != s.percent {
		s.percent = percent
		debug.SetGCPercent(percent)
	}
}

// stop sets the default again.
func (s *spacing) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.set(defaultPercent)
}

// gcPercent returns the percentage of GOGC with which a live heap grows by at least growth bytes, in steps of 10
// percent. It is never less than the default.
func gcPercent(live, growth uint64) int {
	return max(defaultPercent, int(growth*10/max(live, leastHeap))*10)
}
