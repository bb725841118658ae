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

// send writes a request verbatim on a new connection. An empty line precedes the body.
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
		line += " HTTP/1.1\r\nHost: " + addr
	} else {
		line += " HTTP/1.1"
	}
	headers, body, _ := strings.Cut(headers, "\n\n")
	text := line + "\r\nConnection: close\r\n" + strings.ReplaceAll(strings.TrimSpace(headers), "\n", "\r\n") + "\r\n\r\n" + body
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return resp, string(answer)
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
		{request: "GET /healthz/", open: true},
		{request: "GET /graphs//"},
		{request: "GET /graphs/%2e%2E/schema/"},
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

// TestCanonical sends requests in other forms that mean the same, and forms that do not.
func TestCanonical(t *testing.T) {
	ts := newServer(t)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	headers := fmt.Sprintf("\nAuthorization: Bearer %s\nContent-Type: application/json\nContent-Length: %d", devToken, len(ping))
	for _, tt := range []struct {
		request string
		status  int
	}{
		{"POST /graphs/code/mcp" + headers, 200},
		{"POST /graphs/code/mcp/" + headers, 200},
		{"POST /graphs/%63ode/%6dc%70/" + headers, 200},
		{"POST /graphs/code/mcp?x=1" + headers, 200},
		{"POST /graphs/code/mcp//" + headers, 404},
		{"POST /graphs/code%2Fmcp" + headers, 404},
		{"POST /graphs/code/mcp" + headers + "\nMcp-Protocol-Version: 2025-06-18\nMcp-Protocol-Version: 2025-06-18", 200},
		{"POST /graphs/code/mcp" + headers + "\nMcp-Protocol-Version: 2025-06-18, 2025-06-18", 200},
		{"POST /graphs/code/mcp" + headers + "\nMcp-Protocol-Version: 2025-06-18\nMcp-Protocol-Version: 2025-03-26", 400},
		{"POST /graphs/code/mcp" + headers + "\nMcp-Protocol-Version: 2025-06-18, 2025-03-26", 400},
		{"POST /graphs/code/mcp" + headers + "\nContent-Type: application/json\nAuthorization: Bearer " + devToken, 200},
		{"POST /graphs/code/mcp" + headers + "\nContent-Type: text/plain", 415},
		{"POST /graphs/code/mcp" + headers + "\nAuthorization: Bearer another", 401},
		{"POST /graphs/code/mcp" + headers + "\nOrigin: http://localhost\nOrigin: http://localhost", 200},
		{"POST /graphs/code/mcp" + headers + "\nOrigin: http://localhost\nOrigin: http://evil.example", 403},
		{"GET /graphs/code/schema/" + headers, 200},
		{"GET /graphs/%63ode/schem%61" + headers, 200},
		{"GET /graphs/code/branches/?limit=5" + headers, 200},
		{"DELETE /graphs/code/branches/non%65/" + headers, 404},
		{"GET /healthz/\nX-Request-Id: a", 200},
		{"GET /readyz/" + headers, 200},
	} {
		if resp, body := send(t, ts, tt.request+"\n\n"+ping[:strings.Count(tt.request, "Content-Length")*len(ping)]); resp.StatusCode != tt.status {
			line, _, _ := strings.Cut(tt.request, "\n")
			t.Errorf("%s: %d %s, want %d", strings.TrimPrefix(tt.request, line+headers), resp.StatusCode, line+" "+body, tt.status)
		}
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
