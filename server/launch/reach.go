package launch

import (
	"context"
	"net"
	"net/http"

	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
)

// reachableAddress returns the address to dial to reach the server, and the host:port that the
// server accepts as its own name. They differ in two cases: a client cannot dial the address of a
// server that listens on all interfaces, and a server with public hosts refuses every other name.
func reachableAddress(bind string, addr net.Addr, publicHosts []string) (dial, name string) {
	dial = addr.String()
	host, port, err := net.SplitHostPort(dial)
	if err != nil {
		return dial, dial // the address is not a TCP address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		dial = net.JoinHostPort("localhost", port)
	}
	if len(publicHosts) > 0 && !hostcheck.IsLoopbackBind(bind) {
		return dial, net.JoinHostPort(publicHosts[0], port)
	}
	return dial, dial
}

// caller sends every request to one address, with a bearer token.
type caller struct {
	token     string          // the bearer token
	transport *http.Transport // connects to the one address
}

// newCaller returns a caller that dials one address for every request.
func newCaller(dial, token string) *caller {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // the request must reach this server, not a proxy
	t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, dial)
	}
	return &caller{token: token, transport: t}
}

// RoundTrip implements http.RoundTripper.
func (c *caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.token)
	return c.transport.RoundTrip(r)
}
