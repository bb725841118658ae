//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fs

import (
	"os"
	"syscall"
)

// allocated does the work of Allocated. POSIX does not state the unit of st_blocks; it is 512 bytes on these systems.
func allocated(f *os.File) (bytes int64, ok bool) {
	info, err := f.Stat()
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int64(stat.Blocks) * 512, true
}
