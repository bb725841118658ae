package credentials

import (
	"net"
	"net/url"
	"strings"
)

// Exposed reports whether others could read a token on its way to a server: over http:// to another machine. A URL that
// cannot be read counts as exposed.
func Exposed(server string) bool {
	u, err := url.Parse(server)
	return err != nil || u.Scheme == "http" && !onThisMachine(u.Hostname())
}

// onThisMachine reports whether a host is reached without a network. It does not look up names,
// because the address of a name can change.
func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
