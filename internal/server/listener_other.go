//go:build !linux

package server

import "net"

// untilEmpty does nothing: other systems do not say how many connections a listener has to accept.
func untilEmpty(net.Listener) {}
