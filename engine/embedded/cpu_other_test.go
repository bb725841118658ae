//go:build !linux

package embedded

import "time"

// cpuTime returns 0: it measures the processor time of the process only on Linux.
func cpuTime() time.Duration { return 0 }

// anonymousMemory returns 0: it measures the memory of the process only on Linux.
func anonymousMemory() int64 { return 0 }
