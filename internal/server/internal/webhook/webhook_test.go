package webhook_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
)

// TestCheck checks which addresses may be receivers.
func TestCheck(t *testing.T) {
	listed := webhook.New(webhook.Settings{Hosts: []string{"hooks.example.com", "hooks.example.com:8443", "10.0.0.1"}})
	local := webhook.New(webhook.Settings{Loopback: true})
	for _, tt := range []struct {
		sender *webhook.Sender
		url    string
		want   string // part of the error; empty for none
	}{
		{listed, "https://hooks.example.com/a?b=c", ""},
		{listed, "https://HOOKS.example.com:443/", ""},
		{listed, "https://hooks.example.com:8443/", ""},
		{listed, "https://10.0.0.1/", ""}, // refused when it is dialed
		{listed, "https://hooks.example.com:9000/", "do not list the host hooks.example.com:9000"},
		{listed, "https://hooks.example.com.evil.org/", "do not list"},
		{listed, "https://evil.org/?hooks.example.com", "do not list"},
		{listed, "https://hooks.example.com@evil.org/", "a user"},
		{listed, "http://hooks.example.com/", "expected https"},
		{listed, "file:///etc/passwd", "not an address"},
		{listed, "https:hooks.example.com", "not an address"},
		{listed, "https://hooks.example.com/#x", "fragment"},
		{listed, "https://hooks.example.com/" + strings.Repeat("a", webhook.MaxURL), "at most"},
		{listed, "http://127.0.0.1:80/", "expected https"},
		{listed, "https://127.0.0.1/", "do not list"},
		{local, "http://127.0.0.1:8080/x", ""},
		{local, "http://[::1]:8080/x", ""},
		{local, "http://localhost/x", ""},
		{local, "http://127.0.0.1.evil.org/", "expected https"},
		{local, "gopher://127.0.0.1/", "expected https"},
		{local, "https://hooks.example.com/", "do not list"},
	} {
		err := tt.sender.Check(tt.url)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.url, err, tt.want)
		}
	}
}

// TestSend sends messages to a receiver, which verifies them with the library of Standard Webhooks.
func TestSend(t *testing.T) {
	secret := webhook.NewSecret()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil || secret == webhook.NewSecret() {
		t.Fatalf("the secret %q: %v", secret, err)
	}
	status, verified := 200, 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := verifier.VerifyIgnoringTimestamp(body, r.Header); err != nil || string(body) != `{"a":1}` || r.Header.Get("webhook-id") != "m1" {
			t.Errorf("the message %s with %v: %v", body, r.Header, err)
		}
		verified++
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	s := webhook.New(webhook.Settings{Loopback: true})
	defer s.Close()
	send := func() error { return s.Send(t.Context(), receiver.URL, secret, "m1", clock.Now(), []byte(`{"a":1}`)) }
	for status = range map[int]bool{200: true, 204: true} {
		if err := send(); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
	for status = range map[int]bool{302: true, 307: true, 400: true, 503: true} {
		if err := send(); err == nil || errors.Is(err, webhook.ErrGone) || strings.Contains(err.Error(), receiver.URL) {
			t.Errorf("%d: %v", status, err)
		}
	}
	status = http.StatusGone
	if err := send(); !errors.Is(err, webhook.ErrGone) {
		t.Errorf("410: %v", err)
	}
	if verified != 7 {
		t.Errorf("%d messages arrived", verified)
	}
}

// TestPrivateAddresses sends messages to listed hosts whose addresses are private, also behind a name. None is connected to.
func TestPrivateAddresses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	connected := make(chan struct{}, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			connected <- struct{}{}
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	hosts := []string{"127.0.0.1:" + port, "localhost:" + port, "[::ffff:127.0.0.1]:" + port, "0.0.0.0:" + port, "10.0.0.1", "169.254.169.254", "[fd00::1]", "[64:ff9b::7f00:1]", "100.64.0.1"}
	s := webhook.New(webhook.Settings{Hosts: append(hosts, "fd00::1", "64:ff9b::7f00:1")})
	defer s.Close()
	for _, host := range hosts {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := s.Send(ctx, "https://"+host+"/", webhook.NewSecret(), "m1", clock.Now(), nil)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "private or reserved") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if len(connected) > 0 {
		t.Errorf("%d connections were made", len(connected))
	}
}
