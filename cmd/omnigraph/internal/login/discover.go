package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// maxMetadata bounds the metadata of an issuer, in bytes.
const maxMetadata = 1 << 20

// issuer is what the metadata of an issuer says (RFC 8414, RFC 8628).
type issuer struct {
	oauthex.AuthServerMeta
	DeviceURL string `json:"device_authorization_endpoint"` // "" if the issuer lets no devices in
}

// target is a server, with the issuer whose tokens it takes.
type target struct {
	resource string // the server as its metadata names it
	scopes   []string
	issuer   *issuer
}

// discover asks a server for the issuer whose tokens it takes, and the issuer for its endpoints. If insecure is set, the server may say
// so at an http:// URL; the issuer may not.
func discover(ctx context.Context, h *http.Client, server string, insecure bool) (*target, error) {
	at, scopes, err := challenge(ctx, h, server)
	if err != nil {
		return nil, err
	}
	m, err := protected(ctx, h, at, server, insecure)
	if err != nil {
		return nil, fmt.Errorf("read which tokens the server takes: %w", err)
	}
	if len(m.AuthorizationServers) == 0 {
		return nil, errors.New("the server names no issuer; get a token from its operator")
	}
	t := &target{resource: m.Resource, scopes: scopes}
	if len(t.scopes) == 0 {
		t.scopes = m.ScopesSupported
	}
	if t.issuer, err = metadata(ctx, h, m.AuthorizationServers[0]); err != nil {
		return nil, err
	}
	for _, s := range []string{"openid", "offline_access"} { // an issuer may refuse a scope that it does not know
		if slices.Contains(t.issuer.ScopesSupported, s) && !slices.Contains(t.scopes, s) {
			t.scopes = append(t.scopes, s)
		}
	}
	return t, nil
}

// challenge sends a request without a token, and returns the address of the metadata and the scopes that the server names.
func challenge(ctx context.Context, h *http.Client, server string) (at string, scopes []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/actor", nil)
	if err != nil {
		return "", nil, err
	}
	resp, err := h.Do(req)
	if err != nil {
		return "", nil, err
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return "", nil, fmt.Errorf("%s takes requests without a token, so there is nothing to log in to", server)
	case http.StatusUnauthorized:
	default:
		return "", nil, fmt.Errorf("%s answered with status %d, expected 401; check the address", server, resp.StatusCode)
	}
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return "", nil, fmt.Errorf("the challenge of %s: %w", server, err)
	}
	for _, c := range challenges {
		if c.Params["resource_metadata"] != "" {
			return c.Params["resource_metadata"], strings.Fields(c.Params["scope"]), nil
		}
	}
	return "", nil, fmt.Errorf("%s takes no tokens of an issuer; get a token from its operator, and set %s", server, credentials.TokenVar)
}

// protected reads the metadata of a server at an address (RFC 9728).
func protected(ctx context.Context, h *http.Client, at, server string, insecure bool) (*oauthex.ProtectedResourceMetadata, error) {
	if !insecure && !secure(at) {
		return nil, fmt.Errorf("the server names the address %q, which is not an https:// URL", at)
	}
	m, err := fetch[oauthex.ProtectedResourceMetadata](ctx, h, at)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("there is nothing at %s, which the server names", at)
	case m.Resource != server:
		return nil, fmt.Errorf("the server calls itself %q; if that is its address, name it with --server", m.Resource)
	}
	return m, nil
}

// metadata reads the metadata of an issuer, by OpenID Connect or else by RFC 8414.
func metadata(ctx context.Context, h *http.Client, name string) (*issuer, error) {
	u, err := url.Parse(name)
	if err != nil || !secure(name) {
		return nil, fmt.Errorf("the server names the issuer %q, which is not at an https:// URL", name)
	}
	name = strings.TrimRight(name, "/")
	inserted := *u
	inserted.Path = "/.well-known/oauth-authorization-server" + strings.TrimRight(u.Path, "/")
	for _, at := range []string{name + "/.well-known/openid-configuration", inserted.String()} {
		var m *issuer
		if m, err = fetch[issuer](ctx, h, at); err != nil || m == nil {
			continue
		}
		return m, m.check(name)
	}
	if err == nil {
		err = errors.New("it has none at the addresses of OpenID Connect and of RFC 8414")
	}
	return nil, fmt.Errorf("read the metadata of the issuer %s: %w", name, err)
}

// fetch reads metadata at an address. It returns nil if there is none.
func fetch[T any](ctx context.Context, h *http.Client, at string) (*T, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := h.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answered with status %d", at, resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata))
	if err != nil {
		return nil, err
	}
	m := new(T)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return m, nil
}

// check checks the metadata of an issuer with a name. Its endpoints get secrets, so they must be at https:// URLs or on this machine.
func (m *issuer) check(name string) error {
	if strings.TrimRight(m.Issuer, "/") != name {
		return fmt.Errorf("the metadata of the issuer %s is that of %q", name, m.Issuer)
	}
	if m.TokenEndpoint == "" {
		return fmt.Errorf("the metadata of the issuer %s names no token endpoint", name)
	}
	for _, u := range []string{m.TokenEndpoint, m.AuthorizationEndpoint, m.DeviceURL, m.RevocationEndpoint} {
		if u != "" && !secure(u) {
			return fmt.Errorf("the metadata of the issuer %s names the endpoint %q, which is not an https:// URL", name, u)
		}
	}
	return nil
}

// secure reports whether a secret may be sent to an address: an https:// URL, or http:// on this machine.
func secure(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !credentials.Exposed(address)
}

// config returns the client of the issuer.
func (t *target) config(clientID string) *oauth2.Config {
	return &oauth2.Config{ClientID: clientID, Scopes: t.scopes, Endpoint: oauth2.Endpoint{
		AuthURL: t.issuer.AuthorizationEndpoint, DeviceAuthURL: t.issuer.DeviceURL, TokenURL: t.issuer.TokenEndpoint, AuthStyle: oauth2.AuthStyleInParams,
	}}
}
