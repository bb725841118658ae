//go:build unix

package server

import "syscall"

// descriptors returns how many files the process may have open, 0 when that cannot be
// told.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
