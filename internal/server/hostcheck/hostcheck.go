// Package hostcheck rejects HTTP requests for a Host, or from an Origin, that the server does not
// serve. It does so before the requests are authenticated.
package hostcheck

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
)

// Options are the addresses and origins of a server.
type Options struct {
	// Bind is the listen address, host:port. An empty host means every interface.
	Bind string

	// PublicHosts are the hosts, without port, under which clients reach a server that is not bound
	// to loopback. If it is empty, such a server accepts any host.
	PublicHosts []string

	// Origins are the browser origins, scheme://host[:port], that may call the server
	// and that get CORS headers.
	Origins []string

	// Log receives the warnings at start. It is never nil.
	Log *slog.Logger
}

// Checker checks the Host and Origin of requests. It is safe for concurrent use.
type Checker struct {
	loopback bool            // the server is bound to loopback
	public   map[string]bool // the configured public hosts, also if they have no effect
	hosts    map[string]bool // nil means any
	origins  map[string]bool // origins of web pages that may call the server
}

// New returns a checker for the bind address and the other options. The error contains the name of
// the wrong setting.
func New(o Options) (*Checker, error) {
	host, _, err := net.SplitHostPort(o.Bind)
	if err != nil {
		return nil, fmt.Errorf("bind address %q: expected host:port, such as 127.0.0.1:8080", o.Bind)
	}
	g := &Checker{loopback: IsLoopback(host), origins: map[string]bool{}}
	for i, s := range o.Origins {
		origin, err := ParseOrigin(s)
		if err != nil {
			return nil, fmt.Errorf("browser_origins[%d]: %w", i, err)
		}
		g.origins[origin] = true
	}
	public := map[string]bool{}
	for i, s := range o.PublicHosts {
		h, err := ParseHost(s)
		if err != nil {
			return nil, fmt.Errorf("public_hosts[%d]: %w", i, err)
		}
		public[h] = true
	}
	g.public = public
	switch {
	case g.loopback:
		g.hosts = map[string]bool{"127.0.0.1": true, "::1": true, "localhost": true}
		if len(public) > 0 {
			o.Log.Warn("public hosts have no effect when the server binds to a loopback address", "bind", o.Bind)
		}
	case len(public) > 0:
		g.hosts = public
	default:
		o.Log.Warn("no public hosts are configured, so the server accepts requests for any host; list the hosts under server.public_hosts in cluster.yaml", "bind", o.Bind)
	}
	return g, nil
}

// Wrap puts the check in front of the handler `next`. The answer to a rejected request has status
// 403 and the error envelope with the code forbidden.
func (g *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(g.origins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		if !g.hostAllowed(r.Host) {
			envelope.HangUp(w, r)
			refuse(w, fmt.Sprintf("this server does not accept requests for host %q; %s", clip(r.Host), g.hostAdvice(r.Host)))
			return
		}
		origins := r.Header.Values("Origin")
		if len(origins) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		listed, allowed := g.originAllowed(origins, r.Host)
		if !allowed {
			envelope.HangUp(w, r)
			refuse(w, fmt.Sprintf("origin %q may not call this server; %s", clip(strings.Join(origins, ", ")), originAdvice(origins)))
			return
		}
		if listed {
			w.Header().Set("Access-Control-Allow-Origin", origins[0])
			w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hostAllowed reports whether requests may have this Host.
func (g *Checker) hostAllowed(hostport string) bool {
	if hostport == "" {
		return false
	}
	if g.hosts == nil {
		return true
	}
	host, ok := splitHost(hostport)
	return ok && g.hosts[host]
}

// originAllowed checks the values of the Origin header. The result `listed` reports whether the
// origin is in the list; `allowed` reports whether the request may pass. The argument `host` is the
// Host of the request, which hostAllowed accepted. No browser sends more than one value.
func (g *Checker) originAllowed(values []string, host string) (listed, allowed bool) {
	if len(values) != 1 {
		return false, false
	}
	origin, err := ParseOrigin(values[0])
	if err != nil {
		return false, false
	}
	if g.origins[origin] {
		return true, true
	}
	scheme, rest, _ := strings.Cut(origin, "://")
	if !g.loopback {
		// A page of a public host may call the server under the same host and port. The scheme
		// comes from the page's origin, because a proxy may have ended TLS. If the server accepts
		// any host, no page passes this way: under DNS rebinding, a hostile page would also have
		// the same host.
		own, err := ParseOrigin(scheme + "://" + host)
		return false, g.hosts != nil && err == nil && own == origin
	}
	from, ok := splitHost(rest)
	return false, ok && slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, from)
}

// IsLoopback reports whether a server that listens on this host is reachable only from this
// machine.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// clip shortens a text from a client for a message.
func clip(s string) string {
	if end := 80; len(s) > end {
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		return s[:end] + "…"
	}
	return s
}
