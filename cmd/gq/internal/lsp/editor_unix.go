//go:build !windows

package lsp

import (
	"errors"
	"os"
	"syscall"
)

// runs reports whether a process runs. It may belong to another user.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || pid <= 0 {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
