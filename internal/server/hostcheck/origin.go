package hostcheck

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ParseHost checks a host from the configuration. The host must have neither a scheme nor a port.
// ParseHost returns the host in the form for comparing Host headers: in lower case, IPv6 without
// brackets.
func ParseHost(s string) (string, error) {
	host, ok := splitHost(s)
	if !ok {
		return "", fmt.Errorf("%q is not a host; expected only a name or an address, such as graph.example.com", s)
	}
	if _, port, err := net.SplitHostPort(s); err == nil {
		return "", fmt.Errorf("%q has the port %s; expected only the host, because the server accepts any port", s, port)
	}
	return host, nil
}

// ParseOrigin checks an origin, scheme://host[:port] with scheme http or https. It returns the
// origin in the form for comparing origins: in lower case, without the scheme's default port.
func ParseOrigin(s string) (string, error) {
	fault := func(why string) (string, error) {
		return "", fmt.Errorf("%q is not an origin: %s; expected scheme://host[:port], such as https://app.example.com", s, why)
	}
	u, err := url.Parse(s)
	if err != nil {
		// The library's message repeats the whole text, so unwrap it.
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fault(err.Error())
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme != "http" && scheme != "https":
		return fault("its scheme is not http or https")
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(s, "#"):
		return fault("it has more than a scheme, a host and a port")
	}
	host, ok := splitHost(u.Host)
	if !ok {
		return fault("it has no valid host")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port == "" && strings.HasSuffix(u.Host, ":") {
		return fault("its port is empty")
	}
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return scheme + "://" + host, nil
	}
	return scheme + "://" + host + ":" + port, nil
}

// ParseSecureURL checks the URL of a service that the server must trust. The URL must use https, or
// http on this machine, and must have no user and no fragment.
func ParseSecureURL(s string) (*url.URL, error) {
	shown := strconv.Quote(clip(s))
	if strings.Contains(s, "@") {
		shown = "the address" // the text may contain a password
	}
	fault := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("%s is not a URL that the server can trust: %s; expected one such as https://login.example.com", shown, why)
	}
	u, err := url.Parse(s)
	if err != nil {
		return fault("it is not a valid URL")
	}
	host, ok := splitHost(u.Host)
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fault("its scheme is not https")
	case !ok:
		return fault("it has no valid host")
	case u.Scheme == "http" && !IsLoopback(host):
		return fault("http is only for this machine; use https for another machine")
	case u.User != nil || u.Fragment != "" || strings.HasSuffix(s, "#"):
		return fault("it has a user or a fragment")
	}
	return u, nil
}

// IsLoopbackBind reports whether a listen address, host:port, is reachable only from this machine.
func IsLoopbackBind(bind string) bool {
	host, _, err := net.SplitHostPort(bind)
	return err == nil && IsLoopback(host)
}

// splitHost returns the host of host, host:port or [v6]:port, in lower case and without brackets.
func splitHost(s string) (string, bool) {
	host := s
	switch {
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", false
		}
		if rest := s[end+1:]; rest != "" && !isPort(rest) {
			return "", false
		}
		ip, err := netip.ParseAddr(s[1:end])
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", false
		}
		return ip.String(), true
	case strings.Count(s, ":") == 1:
		i := strings.IndexByte(s, ':')
		if !isPort(s[i:]) {
			return "", false
		}
		host = s[:i]
	case strings.Contains(s, ":"):
		ip, err := netip.ParseAddr(s)
		if err != nil || ip.Zone() != "" {
			return "", false
		}
		return ip.String(), true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" {
		return "", false
	}
	for _, c := range []byte(host) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_') {
			return "", false
		}
	}
	return host, true
}

// isPort reports whether s is a colon and a port number.
func isPort(s string) bool {
	if len(s) < 2 || s[0] != ':' {
		return false
	}
	_, err := strconv.ParseUint(s[1:], 10, 16)
	return err == nil
}
