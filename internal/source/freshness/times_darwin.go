package freshness

import (
	"io/fs"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

// changeTime returns the time of the last change of a file itself, in Unix nanoseconds, or 0.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctimespec.Nano()
	}
	return 0
}
