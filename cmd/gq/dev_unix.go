//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// stopSignal asks the server to stop.
const stopSignal = syscall.SIGTERM

// ownGroup keeps Ctrl-C in a terminal from reaching the server before gq dev stops it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
