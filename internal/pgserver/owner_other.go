//go:build !unix

package pgserver

import "syscall"

// asUser returns no attributes. Only a process of root needs them, and other systems than Unix have no root.
func asUser(int, int) *syscall.SysProcAttr { return nil }
