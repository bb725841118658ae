package launch

import (
	"errors"
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
)

// listen returns the socket to serve on, and whether it was passed to the process. systemd passes the
// socket of a socket unit: it stays open while the server restarts, and clients that connect in
// between wait. Without such a socket, listen opens one at o.bind. `explicit` says that the command
// line has the flag --bind, which must then name the address of the passed socket. listen sets
// o.bind to the address of the passed socket, on which the host check depends.
func listen(o *options, explicit bool) (ln net.Listener, passed bool, err error) {
	sockets, err := activation.Listeners()
	if err != nil {
		return nil, false, err
	}
	if len(sockets) == 0 {
		ln, err = net.Listen("tcp", o.bind)
		return ln, false, err
	}
	defer func() {
		for _, s := range sockets {
			if s != nil && err != nil {
				_ = s.Close()
			}
		}
	}()
	if len(sockets) > 1 {
		return nil, false, fmt.Errorf("the server received %d sockets but serves on one; leave one Listen line in the socket unit", len(sockets))
	}
	ln = sockets[0]
	if ln == nil || ln.Addr().Network() != "tcp" {
		return nil, false, errors.New("the server received a socket that does not listen on TCP; give the socket unit a line such as ListenStream=127.0.0.1:8080")
	}
	addr := ln.Addr().String()
	if explicit && addr != o.bind {
		return nil, false, fmt.Errorf("--bind is %s, but the socket that the server received listens on %s; use one address in both, or remove --bind", o.bind, addr)
	}
	o.bind = addr
	return ln, true, nil
}
