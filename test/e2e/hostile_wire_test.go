package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

const smallQuery = `{"query":"query q() { match { $s: Symbol } return { count($s) as n } }"}`

const smallCall = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestHostileRequests sends bytes that are almost HTTP, or requests that are too large.
func TestHostileRequests(t *testing.T) {
	b := besiege(t)
	head := func(line string, header ...string) []byte {
		return []byte(line + "\r\nHost: " + b.addr + "\r\nAuthorization: Bearer " + b.token + "\r\n" + strings.Join(append(header, "Connection: close\r\n\r\n"), "\r\n"))
	}
	// The body contains a second request. The server would serve it if it mistook the body for a
	// new request.
	smuggled := "0\r\n\r\nGET /graphs/code/schema HTTP/1.1\r\nHost: " + b.addr + "\r\nAuthorization: Bearer " + b.token + "\r\n\r\n"
	post := func(header string, body string) []byte {
		return []byte("POST " + overREST + " HTTP/1.1\r\nHost: " + b.addr + "\r\nAuthorization: Bearer " + b.token + "\r\nContent-Type: application/json\r\n" + header + "\r\n" + body)
	}
	refusal := []int{400, closed}
	attacks := []attack{
		{"nothing but a line end", []byte("\r\n\r\n"), refusal},
		{"no HTTP at all", []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n"), refusal},
		{"HTTP/0.9", []byte("GET /healthz\r\n\r\n"), refusal},
		{"HTTP/2 with prior knowledge", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), []int{400, 403, 404, 405, 505, closed}},
		{"HTTP/9.9", head("GET /healthz HTTP/9.9"), []int{400, 505}},
		{"no host", []byte("GET /healthz HTTP/1.1\r\n\r\n"), refusal},
		{"two hosts", head("GET /healthz HTTP/1.1", "Host: example.com"), refusal},
		{"a foreign host", []byte("GET /healthz HTTP/1.1\r\nHost: example.com\r\n\r\n"), []int{403}},
		{"an absolute form of a foreign host", head("GET http://example.com/graphs/code/schema HTTP/1.1"), []int{403}},
		{"an absolute form of this host", head("GET http://" + b.addr + "/graphs/code/schema HTTP/1.1"), []int{200}},
		{"an absolute form of another scheme", head("GET file:///etc/passwd HTTP/1.1"), []int{400, 403, 404}},
		{"CONNECT", head("CONNECT 127.0.0.1:22 HTTP/1.1"), []int{400, 403, 404, 405}},
		{"CONNECT to a path", head("CONNECT /graphs/code/query HTTP/1.1"), []int{400, 403, 404, 405}},
		{"OPTIONS *", head("OPTIONS * HTTP/1.1"), []int{400, 404, 405}},
		{"GET *", head("GET * HTTP/1.1"), []int{400, 404, 405}},
		{"TRACE", head("TRACE /graphs/code/schema HTTP/1.1"), []int{405}},
		{"a method of its own", head("FORGE /graphs/code/schema HTTP/1.1"), []int{405}},
		{"a method of 60,000 letters", head(strings.Repeat("A", 60_000) + " /graphs/code/schema HTTP/1.1"), []int{405, 431}},
		{"no path", head("GET  HTTP/1.1"), refusal},
		{"a path without a slash", head("GET graphs HTTP/1.1"), refusal},
		{"a path with a NUL", head("GET /graphs/\x00 HTTP/1.1"), refusal},
		{"two slashes", head("GET //graphs HTTP/1.1"), []int{404}},
		{"an upgrade to a websocket", head("GET /graphs/code/mcp HTTP/1.1", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"), []int{400, 405}},
		{"an upgrade to HTTP/2", head("GET /healthz HTTP/1.1", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"), []int{200}},
		{"an expectation", post("Expect: the-unexpected\r\nContent-Length: 0\r\n", ""), []int{417}},
		{"both lengths", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", smuggled), refusal},
		{"both lengths, the other way", post("Transfer-Encoding: chunked\r\nContent-Length: 400\r\n", smuggled), refusal},
		{"two lengths", post("Content-Length: 4\r\nContent-Length: 40\r\n", smuggled), refusal},
		{"a list of lengths", post("Content-Length: 4, 40\r\n", smuggled), refusal},
		{"a negative length", post("Content-Length: -1\r\n", smuggled), refusal},
		{"a length with a sign", post("Content-Length: +4\r\n", smuggled), refusal},
		{"a hexadecimal length", post("Content-Length: 0x4\r\n", smuggled), refusal},
		{"a length past 64 bits", post("Content-Length: 99999999999999999999999\r\n", smuggled), refusal},
		{"a length of 2^62", post("Content-Length: 4611686018427387904\r\n", "{}"), []int{400, 413, closed}},
		{"an unknown coding", post("Transfer-Encoding: xchunked\r\n", smuggled), []int{501, 400, closed}},
		{"two codings", post("Transfer-Encoding: gzip, chunked\r\n", smuggled), []int{501, 400, closed}},
		{"chunked with a vertical tab", post("Transfer-Encoding: \x0bchunked\r\n", smuggled), []int{501, 400, closed}},
		{"two transfer codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", smuggled), []int{501, 400, closed}},
		{"white space before the colon", post("Content-Length : 4\r\n", smuggled), refusal},
		{"a bad chunk size", post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), []int{400}},
		{"a chunk size past 64 bits", post("Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"), []int{400}},
		{"a chunk that lies", post("Transfer-Encoding: chunked\r\n", "2\r\n{}}}}}\r\n0\r\n\r\n"), []int{400}},
		{"a folded header", head("GET /healthz HTTP/1.1", "X-Request-Id: a\r\n msg=forged"), []int{200, 400}},
		{"a header with a NUL", head("GET /healthz HTTP/1.1", "X-Request-Id: a\x00b"), refusal},
		{"a header with an escape", head("GET /healthz HTTP/1.1", "X-Request-Id: \x1b[31mred"), refusal},
		{"a header with a bare CR", head("GET /healthz HTTP/1.1", "X-Request-Id: a\rtime=x level=INFO msg=forged"), refusal},
		{"a header without a name", head("GET /healthz HTTP/1.1", ": value"), refusal},
		{"a header name with a space", head("GET /healthz HTTP/1.1", "X Y: value"), refusal},
		{"a header without a colon", head("GET /healthz HTTP/1.1", "novalue"), refusal},
		{"3,000 headers", head("GET /healthz HTTP/1.1", strings.Repeat("A: b\r\n", 3000)+"C: d"), []int{200, 431}},
		{"100,000 headers", head("GET /healthz HTTP/1.1", strings.Repeat("A: b\r\n", 100_000)+"C: d"), []int{431, closed}},
		{"a header of 60,000 bytes", head("GET /graphs/code/schema HTTP/1.1", "X-Timeout-Ms: "+strings.Repeat("9", 60_000)), []int{400}},
		{"a header of 10 MB", head("GET /healthz HTTP/1.1", "A: "+strings.Repeat("b", 10<<20)), []int{431, closed}},
	}
	b.repel(t, attacks)
}

// TestHostileHeaders puts texts that would end a line of the log or of an answer into every header
// that the server reads. Texts that are valid in HTTP must not appear as another header or another
// log record.
func TestHostileHeaders(t *testing.T) {
	b := besiege(t)
	values := []string{
		"%0d%0aX-Forged: yes", `\r\nX-Forged: yes`, `"\nmsg=forged`, "\u0085msg=forged", "\u2028msg=forged", "\xc2\x9b31m", "\xff\xfe", "\tmsg=forged", `","msg":"forged","x":"`,
		strings.Repeat("A", 40_000), "${jndi:ldap://127.0.0.1/a}", "../../etc/passwd", "%s%s%n", "-1", "9223372036854775808", "1e309", "*", "", ",,,,", ";;;;=", "\"", "W/\"", "bytes=0-0,1-1",
	}
	names := []string{
		"X-Request-Id", "Traceparent", "Tracestate", "User-Agent", "Referer", "X-Forwarded-For", "X-Forwarded-Host", "X-Actor", "Forwarded", "Origin", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding",
		"X-Timeout-Ms", "Idempotency-Key", "Omnigraph-If-Graph-Commit", "If-None-Match", "Range", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Last-Event-ID", "Cookie", "Expect", "Via",
		"X-HTTP-Method-Override", "X-Original-URL", "Date", "Transfer-Encoding", "Trailer", "Proxy-Authorization", "Authorization",
	}
	var attacks []attack
	for _, name := range names {
		for _, value := range values {
			for _, to := range []struct{ path, body string }{{overREST, smallQuery}, {overMCP, smallCall}, {"/graphs/code/queries/callers", `{"params":{"path":"x"}}`}} {
				want := []int{200, 202, 400, 401, 403, 404, 405, 412, 413, 415, 417, 431, 501, closed}
				attacks = append(attacks, attack{fmt.Sprintf("%s: %.40q to %s", name, value, to.path), b.request(to.path, asJSON, to.body, name+": "+value), want})
			}
		}
	}
	// The same texts in JSON, where HTTP does not restrict them.
	for _, value := range []string{`a\r\ntime=x level=INFO msg=forged`, `\u001b[2J\u001b[31mred`, `a\u0000b`, `\u0085msg=forged`, `\u2028`, `\u009b31m`, `\u202e`} {
		for _, format := range []string{
			`{"query":"%s"}`, `{"query":"query q() { match { $s: Symbol } return { $s.path as p } }","name":"%s"}`, `{"query":"x","branch":"%s"}`, `{"query":"x","%s":1}`,
			`{"query":"query q($a: String) { match { $s: Symbol { path: $a } } return { $s.path as p } }","params":{"a":"%s"}}`,
			`{"query":"query q($a: String) { match { $s: Symbol { path: $a } } return { $s.path as p } }","params":{"%s":"a"}}`,
		} {
			attacks = append(attacks, attack{format + " of " + value, b.request(overREST, asJSON, strings.ReplaceAll(format, "%s", value)), []int{200, 400, 404}})
		}
		for _, format := range []string{
			`{"jsonrpc":"2.0","id":"%s","method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"%s"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"%s"}}`, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"%s"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_query","arguments":{"query":"%s","branch":"%s"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{},"clientInfo":{"name":"%s","version":"%s"}}}`,
		} {
			attacks = append(attacks, attack{format + " of " + value, b.request(overMCP, asJSON, strings.ReplaceAll(format, "%s", value)), []int{200, 400, 404}})
		}
	}
	b.repel(t, attacks)
}

// TestCompressedBodies sends bodies of a few kilobytes that expand to gigabytes. The server must
// refuse them by their header, before it inflates anything.
func TestCompressedBodies(t *testing.T) {
	b := besiege(t)
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(w, zeros{}, 512<<20); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var attacks []attack
	for _, coding := range []string{"gzip", "GZIP", "x-gzip", "deflate", "br", "zstd", "compress", "gzip, gzip", "identity, gzip", "identity\r\nContent-Encoding: gzip"} {
		for path, contentType := range map[string]string{
			overREST: asJSON, overMCP: asJSON, "/graphs/code/mutate": asJSON, "/graphs/code/queries/callers": asJSON, "/graphs/code/load/ndjson?mode=merge": "application/x-ndjson",
		} {
			attacks = append(attacks, attack{coding + " to " + path, b.request(path, contentType, bomb.String(), "Content-Encoding: "+coding), []int{415}})
		}
	}
	b.repel(t, attacks)
	for _, r := range []struct{ path, body string }{{overREST, smallQuery}, {overMCP, smallCall}} {
		got, err := b.exchange(b.request(r.path, asJSON, r.body, "Content-Encoding: identity"))
		if err != nil || got.status != 200 {
			t.Errorf("%s as it is: %d, %v", r.path, got.status, err)
		}
	}
}

// zeros is an endless reader of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestPipelined sends several requests without waiting for answers. The server must answer them in
// order, and must answer nothing after a bad request.
func TestPipelined(t *testing.T) {
	b := besiege(t)
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	const n = 200
	var requests strings.Builder
	for i := range n {
		fmt.Fprintf(&requests, "GET /nowhere/%d HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", i, b.addr, b.token)
	}
	requests.WriteString("GET /bad HTTP/1.1\r\nHost: " + b.addr + "\r\nBad Header: x\r\n\r\nGET /after HTTP/1.1\r\nHost: " + b.addr + "\r\n\r\n")
	go func() { _, _ = conn.Write([]byte(requests.String())) }()
	answers := bufio.NewReader(conn)
	for i := range n {
		r, err := readReply(answers, "GET")
		if err == nil {
			err = r.check(404)
		}
		if err != nil || !strings.Contains(string(r.body), fmt.Sprintf("nowhere/%d\\", i)) {
			t.Fatalf("answer %d: %v %s", i, err, r.body)
		}
	}
	if r, err := readReply(answers, "GET"); err != nil || r.status != 400 {
		t.Errorf("the bad request: %d, %v", r.status, err)
	}
	if r, err := readReply(answers, "GET"); err != nil || r.status != closed {
		t.Errorf("what follows a bad request: %d, %v", r.status, err)
	}
}
