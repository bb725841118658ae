//go:build unix

package pgserver

import "syscall"

// asUser returns the attributes of a process that runs as the given user and group.
func asUser(uid, gid int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
