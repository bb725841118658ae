//go:build unix

package server

import "syscall"

// descriptors returns how many files the process may have open, or 0 if the limit is unknown.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
