package launch

import (
	"context"
	"net"
	"net/http"

	"github.com/omnigraph-go/omnigraph/server/guard"
)

// reached says how the server calls itself: what to dial, and the host:port that it
// takes for its own name. A bind to every interface is no address to call, and a
// server with public hosts turns away whoever calls it by another.
func reached(bind string, addr net.Addr, publicHosts []string) (dial, name string) {
	dial = addr.String()
	host, port, err := net.SplitHostPort(dial)
	if err != nil {
		return dial, dial // not TCP
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		dial = net.JoinHostPort("localhost", port)
	}
	if len(publicHosts) > 0 && !guard.IsLoopbackBind(bind) {
		return dial, net.JoinHostPort(publicHosts[0], port)
	}
	return dial, dial
}

// caller sends every request to one address, with a token.
type caller struct {
	token     string
	transport *http.Transport
}

func newCaller(dial, token string) *caller {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // the server itself is asked
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
