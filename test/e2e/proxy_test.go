package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
)

// publicHost is the host in the files of docs/deployment.
const publicHost = "graph.example.com"

// TestBehindNginx and TestBehindCaddy run the proxies of the guide. In front of a server that is
// bound to loopback, they use the guide's own files. In front of a server that is bound to every
// interface, they change the line about the Host as the files describe.
func TestBehindNginx(t *testing.T) {
	behind(t, "nginx", func(t *testing.T, x *proxied) *exec.Cmd {
		host := "localhost"
		if !x.loopback {
			host = "$host"
		}
		site := x.configured("nginx.conf",
			"127.0.0.1:8080", x.server.addr,
			"listen 443", "listen "+x.addr,
			"proxy_set_header Host localhost;", "proxy_set_header Host "+host+";",
			"/etc/ssl/omnigraph/fullchain.pem", x.cert,
			"/etc/ssl/omnigraph/privkey.pem", x.key)
		whole := filepath.Join(x.dir, "whole.conf")
		temp := ""
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			temp += kind + "_temp_path " + filepath.Join(x.dir, kind) + ";\n"
		}
		user := ""
		if os.Getuid() == 0 {
			user = "user root;\n" // root owns the test's folder
		}
		write(t, whole, user+"daemon off;\nworker_processes 1;\nerror_log stderr;\npid "+filepath.Join(x.dir, "pid")+";\nevents {}\nhttp {\naccess_log off;\n"+temp+"include "+site+";\n}\n")
		return exec.Command("nginx", "-p", x.dir, "-e", "stderr", "-c", whole)
	})
}

func TestBehindCaddy(t *testing.T) {
	behind(t, "caddy", func(t *testing.T, x *proxied) *exec.Cmd {
		_, port, err := net.SplitHostPort(x.addr)
		if err != nil {
			t.Fatal(err)
		}
		host := "header_up Host localhost\n"
		if !x.loopback {
			host = ""
		}
		site := x.configured("Caddyfile",
			"127.0.0.1:8080", x.server.addr,
			"header_up Host localhost\n", host,
			"https:// {\n", "https://:"+port+" {\n\tbind 127.0.0.1\n",
			publicHost+" {\n", publicHost+":"+port+" {\n\tbind 127.0.0.1\n\ttls "+x.cert+" "+x.key+"\n")
		text, err := os.ReadFile(site)
		if err != nil {
			t.Fatal(err)
		}
		write(t, site, "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"+string(text))
		cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", site)
		cmd.Env = append(os.Environ(), "HOME="+x.dir, "XDG_DATA_HOME="+x.dir, "XDG_CONFIG_HOME="+x.dir)
		return cmd
	})
}

// proxied is a server with a proxy in front of it.
type proxied struct {
	t              *testing.T
	dir, cert, key string
	addr           string // address of the proxy
	loopback       bool   // whether the server is bound to loopback
	server         *process
	issuer         *authtest.Issuer
	signing        *authtest.Key
	client         *http.Client // connects to the proxy for the public host
}

// behind runs the proxy that the function `command` returns, and runs the checks on servers through
// it.
func behind(t *testing.T, program string, command func(*testing.T, *proxied) *exec.Cmd) {
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
	t.Run("loopback", func(t *testing.T) {
		x := newProxied(t, program, "127.0.0.1:0", command)
		x.rest()
		x.mcp()
		x.named()
		x.metadata()
		x.origins()
		lines := x.load()
		x.tooLarge()
		x.drain(lines)
	})
	t.Run("elsewhere", func(t *testing.T) {
		x := newProxied(t, program, "0.0.0.0:0", command)
		x.rest()
		x.named()
		x.metadata()
		x.origins()
	})
}

// newProxied starts a server that is bound to an address, and a proxy in front of it.
func newProxied(t *testing.T, program, bind string, command func(*testing.T, *proxied) *exec.Cmd) *proxied {
	t.Helper()
	x := &proxied{t: t, dir: t.TempDir(), loopback: hostcheck.IsLoopbackBind(bind), signing: authtest.NewKey(t, "k1", jose.RS256)}
	x.issuer = authtest.New(t, x.signing)
	pool := x.certify()
	dir := clusterDir(t)
	config := filepath.Join(dir, "cluster.yaml")
	replace(t, config, "public_hosts: []", "public_hosts: ["+publicHost+"]\n  oidc: { issuer: "+x.issuer.URL+", audience: "+authtest.Audience+" }")
	replace(t, config, "browser_origins: []", "browser_origins: ["+pageOrigin+"]")
	x.server = startWith(t, dir, "Serving", "--dev", "--bind", bind)
	_, port, err := net.SplitHostPort(x.server.addr)
	if err != nil {
		t.Fatal(err)
	}
	x.server.addr = net.JoinHostPort("127.0.0.1", port)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x.addr = ln.Addr().String()
	ln.Close()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: publicHost},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", x.addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	x.client = &http.Client{Transport: transport}

	cmd := command(t, x)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // returns an error because of the signal
		if t.Failed() {
			t.Logf("%s: %s", program, log.String())
		}
	})
	x.await()
	return x
}

// configured writes a file of the guide with paths and addresses replaced by those of the test.
func (x *proxied) configured(name string, oldnew ...string) string {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join("../../docs/deployment", name))
	if err != nil {
		x.t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			x.t.Fatalf("%s holds no %q", name, oldnew[i])
		}
		text = strings.ReplaceAll(text, oldnew[i], oldnew[i+1])
	}
	to := filepath.Join(x.dir, name)
	write(x.t, to, text)
	return to
}

// certify makes a certificate for the public host, and a pool that trusts it.
func (x *proxied) certify() *x509.CertPool {
	x.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		x.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: publicHost}, DNSNames: []string{publicHost},
		// The certificate is valid at every date, because the proxy and this process may have
		// different clocks.
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		x.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		x.t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	x.cert, x.key = filepath.Join(x.dir, "cert.pem"), filepath.Join(x.dir, "key.pem")
	write(x.t, x.cert, cert)
	write(x.t, x.key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(cert))
	return pool
}

// await waits until the server answers through the proxy.
func (x *proxied) await() {
	x.t.Helper()
	var err error
	for deadline := clock.Now().Add(20 * time.Second); clock.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var res *http.Response
		if res, err = x.client.Get("https://" + publicHost + "/readyz"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
			err = errors.New(res.Status)
		}
	}
	x.t.Fatalf("no answer through the proxy: %v", err)
}

// do sends a request to the public host.
func (x *proxied) do(method, path, host, contentType string, body io.Reader) *http.Response {
	x.t.Helper()
	req, err := http.NewRequest(method, "https://"+publicHost+path, body)
	if err != nil {
		x.t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+x.server.token)
	req.Header.Set("Content-Type", contentType)
	res, err := x.client.Do(req)
	if err != nil {
		x.t.Fatalf("%s %s: %v", method, path, err)
	}
	x.t.Cleanup(func() { res.Body.Close() })
	return res
}

// whole sends a request with do, and reads the whole answer.
func (x *proxied) whole(method, path, host, contentType string, body io.Reader) (*http.Response, string) {
	x.t.Helper()
	res := x.do(method, path, host, contentType, body)
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res, string(b)
}

func (x *proxied) rest() {
	x.t.Helper()
	const query = `{"query":"query q() { match { $p: Package } return { $p.path } }"}`
	res, body := x.whole("POST", "/graphs/code/query", publicHost, "application/json", strings.NewReader(query))
	if res.StatusCode != http.StatusOK || !strings.Contains(body, "example.com/p") || res.Header.Get("ETag") == "" {
		x.t.Errorf("a query: %s, ETag %q, %s", res.Status, res.Header.Get("ETag"), body)
	}
	res, body = x.whole("POST", "/graphs/code/query", publicHost, "application/json", strings.NewReader(`{"query":"nonsense"}`))
	if res.StatusCode != http.StatusBadRequest || !strings.Contains(body, `"code":"bad_request"`) {
		x.t.Errorf("a bad query: %s %s", res.Status, body)
	}
	token := x.server.token
	x.server.token = "wrong"
	res, body = x.whole("POST", "/graphs/code/query", publicHost, "application/json", strings.NewReader(query))
	x.server.token = token
	if res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") == "" || !strings.Contains(body, `"code":"unauthorized"`) {
		x.t.Errorf("a wrong token: %s, %v, %s", res.Status, res.Header, body)
	}
	if res, body = x.whole("GET", "/metrics", publicHost, "", nil); res.StatusCode != http.StatusNotFound || strings.Contains(body, `"code"`) {
		x.t.Errorf("the proxy passes /metrics on: %s %s", res.Status, body)
	}
}

func (x *proxied) mcp() {
	x.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v0"}, nil)
	session, err := client.Connect(x.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: "https://" + publicHost + "/graphs/code/mcp", HTTPClient: &http.Client{Transport: bearer{x}},
	}, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(x.t.Context(), nil)
	if err != nil || len(list.Tools) < 10 {
		x.t.Fatalf("tools/list: %v, %v", list, err)
	}
	res, err := session.CallTool(x.t.Context(), &mcp.CallToolParams{Name: "heaviest_packages"})
	if err != nil || res.IsError {
		x.t.Fatalf("tools/call: %v, %v", res, err)
	}
	if b, _ := json.Marshal(res.StructuredContent); !strings.Contains(string(b), "example.com/p") {
		x.t.Errorf("tools/call: %s", b)
	}
}

// bearer is a transport that sends requests through the proxy with the server's token.
type bearer struct{ x *proxied }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.x.server.token)
	return b.x.client.Transport.RoundTrip(r)
}

// symbols returns NDJSON of at least `size` bytes, and its number of lines.
func symbols(size int) (string, int) {
	var b strings.Builder
	lines := 0
	for ; b.Len() < size; lines++ {
		path := fmt.Sprintf("example.com/big.F%06d", lines)
		fmt.Fprintf(&b, `{"type":"Symbol","data":{"path":%q,"name":"F%d","kind":"func","exported":true,"line":1,"doc":%q,"words":"big"}}`+"\n", path, lines, noise(4<<10))
	}
	return b.String(), lines
}

// noise returns at least n bytes of text that does not compress well.
func noise(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()
}

// load sends 20 MiB and returns the number of lines that an export then has.
func (x *proxied) load() int {
	x.t.Helper()
	data, lines := symbols(20 << 20)
	res, body := x.whole("POST", "/graphs/code/load/ndjson?branch=main&mode=merge", publicHost, "application/x-ndjson", strings.NewReader(data))
	var answer struct {
		Total int `json:"total_entities"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || res.StatusCode != http.StatusOK || answer.Total != lines {
		x.t.Fatalf("a load of %d lines: %s %.300s", lines, res.Status, body)
	}
	graph, err := os.ReadFile(graphFile(x.t))
	if err != nil {
		x.t.Fatal(err)
	}
	return lines + bytes.Count(graph, []byte("\n"))
}

// tooLarge sends more bytes than the server accepts. The proxy must pass on the server's refusal.
func (x *proxied) tooLarge() {
	x.t.Helper()
	data, _ := symbols(33 << 20)
	res, body := x.whole("POST", "/graphs/code/load", publicHost, "application/json", strings.NewReader(data))
	if res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, `"error"`) {
		x.t.Errorf("33 MiB: %s %.300s", res.Status, body)
	}
}

// drain stops the server while a client reads an export of the given number of lines. The client
// must get the whole export, and later clients must get status 502 from the proxy.
func (x *proxied) drain(lines int) {
	x.t.Helper()
	res := x.do("POST", "/graphs/code/export", publicHost, "application/json", strings.NewReader("{}"))
	if res.StatusCode != http.StatusOK {
		x.t.Fatalf("an export: %s", res.Status)
	}
	in := bufio.NewReader(res.Body)
	if _, err := in.ReadString('\n'); err != nil {
		x.t.Fatal(err)
	}
	if err := x.server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		x.t.Fatal(err)
	}
	for deadline := clock.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", x.server.addr)
		if err != nil {
			break
		}
		conn.Close()
		if clock.Now().After(deadline) {
			x.t.Fatal("the server accepts connections ten seconds after SIGTERM")
		}
	}
	select {
	case <-x.server.read:
		x.t.Fatal("the server ended during an export")
	default:
	}
	rest, err := io.ReadAll(in)
	if err != nil {
		x.t.Fatalf("the export broke off: %v", err)
	}
	if got := 1 + bytes.Count(rest, []byte("\n")); got != lines || !bytes.HasSuffix(rest, []byte("}\n")) {
		x.t.Errorf("the export has %d lines of %d", got, lines)
	}
	<-x.server.read
	if err := x.server.cmd.Wait(); err != nil {
		x.t.Errorf("after SIGTERM the server ended with %v: %s", err, x.server.stderr.String())
	}
	if res, _ := x.whole("GET", "/readyz", publicHost, "", nil); res.StatusCode != http.StatusBadGateway {
		x.t.Errorf("without a server the proxy answers %s", res.Status)
	}
}
