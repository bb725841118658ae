// Package webhook sends messages to web addresses that people name, in the form of Standard Webhooks, and to no address inside the
// network of the server.
package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	// MaxURL is the maximum length of the address of a receiver in bytes.
	MaxURL = 2000

	// timeout is how long a receiver may take to answer.
	timeout = 15 * time.Second

	// secretBytes is the number of random bytes in a secret.
	secretBytes = 32
)

// ErrGone is the error of a receiver that answers that it wants no more messages (410).
var ErrGone = errors.New("the receiver answered 410, so it wants no more messages")

// Settings say where messages may go.
type Settings struct {
	// Hosts lists the hosts of receivers, in lower case, each with its port unless that is 443.
	Hosts []string

	// Loopback also allows receivers on loopback, over http or https, with any port. It is for tests.
	Loopback bool
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	settings Settings
	client   *http.Client
}

// New returns a sender.
func New(s Settings) *Sender {
	dialer := &net.Dialer{Timeout: timeout, Control: s.guard().Safe}
	return &Sender{s, &http.Client{
		Timeout: timeout,
		// No proxy: it would connect in place of the dialer, and to any address.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout, ForceAttemptHTTP2: true,
			IdleConnTimeout: time.Minute, MaxIdleConns: 100, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// guard returns what checks each address that is dialed, after the name was resolved.
func (s Settings) guard() *ssrf.Guardian {
	options := []ssrf.Option{ssrf.WithAnyPort()} // Check compares the port
	if s.Loopback {
		options = append(options, ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.0/8")), ssrf.WithAllowedV6Prefixes(netip.MustParsePrefix("::1/128")))
	}
	return ssrf.New(options...)
}

// Close closes the idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Enabled reports whether there are receivers to which messages may go.
func (s *Sender) Enabled() bool { return s.settings.Loopback || len(s.settings.Hosts) > 0 }

// Check returns an error that says what is wrong with the address of a receiver.
func (s *Sender) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > MaxURL:
		return fmt.Errorf("found %d bytes, expected at most %d", len(address), MaxURL)
	case err != nil, u.Host == "", u.Opaque != "":
		return errors.New("it is not an address of the form https://host/path")
	case u.User != nil:
		return errors.New("it contains a user or a password; a receiver checks the signature of a message instead")
	case u.Fragment != "":
		return errors.New("it contains a fragment, which no server gets")
	case s.settings.Loopback && isLoopback(u.Hostname()) && (u.Scheme == "http" || u.Scheme == "https"):
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("its scheme is %q, expected https", u.Scheme)
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != "443" {
		host = net.JoinHostPort(host, port)
	}
	if !slices.Contains(s.settings.Hosts, host) {
		return fmt.Errorf("the settings of the graph do not list the host %s", host)
	}
	return nil
}

// Host returns the host of the address of a receiver, with its port, or "" if it cannot be read.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// isLoopback reports whether a host is loopback by its name.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// NewSecret returns a new secret for the signatures of messages.
func NewSecret() string {
	key := make([]byte, secretBytes)
	rand.Read(key) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// Send sends a message with an id, which stays the same if the message is sent again. It returns nil if the receiver answers with a
// status 2xx. The error shows nothing of the answer but the status.
func (s *Sender) Send(ctx context.Context, address, secret, id string, at time.Time, body []byte) error {
	if err := s.Check(address); err != nil {
		return err // the settings may have changed
	}
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return errors.New("the secret of the webhook cannot be read")
	}
	signature, err := signer.Sign(id, at, body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "omnigraph")
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	resp, err := s.client.Do(r)
	if err != nil {
		return reason(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4096)) // so that the connection can be used again
	switch {
	case resp.StatusCode == http.StatusGone:
		return ErrGone
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("the receiver answered %d, and redirects are not followed", resp.StatusCode)
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("the receiver answered %d", resp.StatusCode)
	}
	return nil
}

// reason returns the cause of a failed request, without the address, which may hold a secret, and without what the name resolved to.
func reason(err error) error {
	var dns *net.DNSError
	var timed interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, ssrf.ErrProhibitedIP):
		return errors.New("the host has a private or reserved address")
	case errors.As(err, &dns):
		return errors.New("the name of the host could not be resolved")
	case errors.As(err, &timed) && timed.Timeout():
		return errors.New("the receiver did not answer in time")
	}
	return errors.New("the connection to the receiver failed")
}
