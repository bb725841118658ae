package server

import (
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// emptyTime is how long untilEmpty waits at most.
const emptyTime = time.Second

// untilEmpty waits until the server has accepted all connections of a listener. The close of the listener resets
// the others, although their clients may have sent a request.
func untilEmpty(ln net.Listener) {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	for end := clock.Now().Add(emptyTime); clock.Now().Before(end); time.Sleep(time.Millisecond) {
		waiting := uint32(0)
		err := raw.Control(func(fd uintptr) {
			if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				waiting = info.Unacked // of a listener: the number of connections to accept
			}
		})
		if err != nil || waiting == 0 {
			return
		}
	}
}
