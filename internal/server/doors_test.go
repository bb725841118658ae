package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// send writes a request verbatim on a new connection.
func send(t *testing.T, ts *testServer, request string) (*http.Response, string) {
	t.Helper()
	addr, _, _ := strings.Cut(strings.TrimPrefix(ts.url, "http://"), "/")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	line, headers, _ := strings.Cut(request, "\n")
	method, _, _ := strings.Cut(line, " ")
	if !strings.Contains(headers, "Host: ") {
		headers += "\nHost: " + addr
	}
	text := line + " HTTP/1.1\r\nConnection: close\r\n" + strings.ReplaceAll(strings.TrimSpace(headers), "\n", "\r\n") + "\r\n\r\n"
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return resp, string(body)
}

// TestEveryPathIsGuarded sends unusual requests. Each answer must be the error envelope. The server
// must refuse each request with a foreign host or origin. Without a token, it must reveal nothing.
func TestEveryPathIsGuarded(t *testing.T) {
	ts := newServer(t)
	for _, tt := range []struct {
		request string
		open    bool // whether the request needs no token
	}{
		{request: "GET /healthz", open: true},
		{request: "GET /readyz", open: true},
		{request: "GET /graphs"},
		{request: "GET /nowhere"},
		{request: "GET //graphs"},
		{request: "POST /graphs/../graphs/code/mcp"},
		{request: "POST /graphs/code/mcp/../mcp"},
		{request: "GET /healthz/../graphs"},
		{request: "GET //healthz"},
		{request: "GET /healthz/"},
		{request: "GET /graphs/%2e%2e/schema"},
		{request: "GET /graphs/code%2fmcp"},
		{request: "GET /graphs/code%2fschema"},
		{request: "POST /graphs/none/mcp"},
		{request: "GET /graphs/code/mcp"},
		{request: "DELETE /graphs/code/mcp"},
		{request: "OPTIONS /graphs/code/mcp"},
		{request: "OPTIONS *"},
		{request: "TRACE /graphs/code/schema"},
		{request: "PROPFIND /graphs"},
	} {
		envelope := func(resp *http.Response, body string) (code string) {
			var e struct{ Error, Code string }
			if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error == "" || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: no envelope: %d %s", tt.request, resp.StatusCode, body)
			}
			return e.Code
		}
		for _, header := range []string{"Host: evil.example", "Origin: http://evil.example", "Origin: null"} {
			resp, body := send(t, ts, tt.request+"\n"+header)
			if resp.StatusCode != http.StatusForbidden || envelope(resp, body) != "forbidden" || strings.Contains(fmt.Sprint(resp.Header), "Access-Control") {
				t.Errorf("%s with %s: %d %v %s", tt.request, header, resp.StatusCode, resp.Header, body)
			}
		}
		resp, body := send(t, ts, tt.request)
		if tt.open {
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s", tt.request, resp.StatusCode, body)
			}
			continue
		}
		if resp.StatusCode != http.StatusUnauthorized || envelope(resp, body) != "unauthorized" || !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s without a token: %d %v %s", tt.request, resp.StatusCode, resp.Header, body)
		}
		if tt.request == "GET /graphs" {
			for token, want := range map[string]int{devToken: http.StatusOK, "the-token-of-act-ada": http.StatusForbidden} {
				if resp, body := send(t, ts, tt.request+"\nAuthorization: Bearer "+token); resp.StatusCode != want {
					t.Errorf("%s: %d %s, want %d", tt.request, resp.StatusCode, body, want)
				}
			}
			continue
		}
		resp, body = send(t, ts, tt.request+"\nAuthorization: Bearer "+devToken)
		if c := resp.StatusCode; c != http.StatusNotFound && c != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d %s", tt.request, c, body)
		}
		envelope(resp, body)
	}
	// The target of a CONNECT request counts as its Host.
	if resp, body := send(t, ts, "CONNECT evil.example:80"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("CONNECT: %d %s", resp.StatusCode, body)
	}
	if resp, body := send(t, ts, "CONNECT localhost:80\nAuthorization: Bearer "+devToken); resp.StatusCode != http.StatusNotFound {
		t.Errorf("CONNECT: %d %s", resp.StatusCode, body)
	}
	if strings.Contains(ts.log.String(), devToken) {
		t.Error("the log holds a token")
	}
}

// TestActorIsTheTokens checks that only the token determines the actor of a request.
func TestActorIsTheTokens(t *testing.T) {
	ts := newServer(t)
	for _, header := range []string{"X-Actor: act-dev", "X-Forwarded-User: act-dev", "Actor: act-dev", "Cookie: token=" + devToken, "Proxy-Authorization: Bearer " + devToken} {
		resp, body := send(t, ts, "GET /graphs/code/schema\nAuthorization: Bearer the-token-of-nobody\n"+header)
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d %s", header, resp.StatusCode, body)
		}
	}
	for _, query := range []string{"?actor=act-dev", "?access_token=" + devToken} {
		resp, body := send(t, ts, "GET /graphs/code/schema"+query)
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", query, resp.StatusCode, body)
		}
	}
}
