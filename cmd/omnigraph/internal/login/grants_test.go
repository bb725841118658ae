package login

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// replies is an issuer that answers one request after the other; the last answer stands for all that follow.
type replies []func() (*http.Response, error)

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	next := (*r)[0]
	if len(*r) > 1 {
		*r = (*r)[1:]
	}
	resp, err := next()
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// reply makes an answer.
func reply(status int, body string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// TestDevice logs in on a device at issuers that are slow, broken or hostile.
func TestDevice(t *testing.T) {
	asked := func(more string) func() (*http.Response, error) {
		return reply(200, `{"device_code": "d3vice", "verification_uri": "https://id.example.com/a", "expires_in": 300`+more+`}`)
	}
	code := asked(`, "user_code": "WDJB", "interval": 2`)
	pending := reply(400, `{"error": "authorization_pending"}`)
	granted := reply(200, `{"access_token": "t", "token_type": "Bearer"}`)
	broken := func() (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("network is unreachable")}
	}
	for _, tt := range []struct {
		name        string
		replies     replies
		took        time.Duration
		said, fault string
	}{
		{"a wait", replies{code, pending, granted}, 4 * time.Second, "enter the code WDJB\n", ""},
		{"the network breaks", replies{code, broken, granted}, 6 * time.Second, "network is unreachable; trying again\n", ""},
		{"a gateway answers", replies{code, reply(502, "<html>"), reply(503, "d3vice"), granted}, 14 * time.Second, "status 503; trying again\n", ""},
		{"nobody comes", replies{code, pending}, 300 * time.Second, "", "the code has expired; run omnigraph login again"},
		{"the issuer is gone", replies{code, broken}, 300 * time.Second, "", "the code has expired; run omnigraph login again"},
		{"the issuer says so", replies{code, reply(400, `{"error": "expired_token"}`)}, 2 * time.Second, "", "the code has expired; run omnigraph login again"},
		{"refused", replies{code, reply(400, `{"error": "access_denied", "error_description": "not d3vice"}`)}, 2 * time.Second, "", "the issuer answered: access_denied: not …"},
		{"an interval below zero", replies{asked(`, "interval": -1`)}, 0, "", "the issuer asks for -1 seconds between two polls"},
		{"an interval that overflows", replies{asked(`, "interval": 9300000000`)}, 0, "", "the issuer asks for 9300000000 seconds"},
		{"a code for the terminal", replies{asked(`, "user_code": "\u001b]52;c;eA==\u0007\nOpen https://evil.example.com\u009b2J"`), granted}, 5 * time.Second,
			`enter the code \x1b]52;c;eA==\a\nOpen https://evil.example.com\u009b2J` + "\n", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &http.Client{Transport: &tt.replies}
			var said bytes.Buffer
			f := flow{clientID: "cli", err: &said}
			start := clock.Now()
			token, err := f.byDevice(context.WithValue(t.Context(), oauth2.HTTPClient, h), &target{resource: "https://graph.example.com", issuer: &issuer{DeviceURL: "https://id.example.com/device"}})
			if took := clock.Since(start); took != tt.took {
				t.Errorf("%s: took %v, want %v", tt.name, took, tt.took)
			}
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("%s: %v, want %q", tt.name, err, tt.fault)
				}
			} else if err != nil || token.AccessToken != "t" {
				t.Errorf("%s: %v, %v", tt.name, token, err)
			}
			if !strings.Contains(said.String(), tt.said) {
				t.Errorf("%s: said %q, want %q", tt.name, said.String(), tt.said)
			}
		})
	}
}
