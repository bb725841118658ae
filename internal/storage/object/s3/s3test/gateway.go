// Package s3test starts S3 servers for tests.
package s3test

import (
	"bytes"
	"net"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3"
)

// gatewayVariable names the environment variable with the path of versitygw, an S3 server that
// keeps objects in a folder. `make test-s3` builds versitygw.
const gatewayVariable = "OMNIGRAPH_TEST_VERSITYGW"

// Gateway is a versitygw that a test started.
type Gateway struct {
	program, dir, at string // the executable file, the folder of the buckets, the address
	process          *exec.Cmd
}

// Start starts versitygw over an empty folder that has the bucket "graphs", and returns its URL.
func Start(t *testing.T) string {
	t.Helper()
	return New(t).URL()
}

// New starts versitygw over an empty folder that has the bucket "graphs".
func New(t *testing.T) *Gateway {
	t.Helper()
	program := os.Getenv(gatewayVariable)
	if program == "" {
		t.Skipf("%s does not name a versitygw; run make test-s3", gatewayVariable)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	g := &Gateway{program: program, dir: t.TempDir(), at: listener.Addr().String()}
	must(t, listener.Close())
	must(t, os.Mkdir(g.dir+"/graphs", 0o755))
	g.Start(t)
	t.Cleanup(g.Kill)
	return g
}

// URL returns the address of the server.
func (g *Gateway) URL() string { return "http://" + g.at }

// Kill ends the server at once, as kill -9 does.
func (g *Gateway) Kill() {
	_ = g.process.Process.Kill() // fails if the server has ended
	_ = g.process.Wait()
}

// Start starts a server that was killed, at its former address.
func (g *Gateway) Start(t *testing.T) {
	t.Helper()
	g.process = exec.Command(g.program, "--access", "key", "--secret", "secret", "--port", g.at, "--quiet", "posix", g.dir)
	output := &bytes.Buffer{}
	g.process.Stdout, g.process.Stderr = output, output
	must(t, g.process.Start())
	for range 300 {
		if conn, err := net.Dial("tcp", g.at); err == nil {
			conn.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	g.Kill() // afterwards nothing writes to `output`
	t.Fatalf("versitygw does not accept connections; it wrote\n%s", output)
}

// Open opens a Bucket at a server.
func Open(t *testing.T, endpoint string) *s3.Bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b, err := s3.Open("s3://graphs/prod/one?endpoint=" + url.QueryEscape(endpoint))
	must(t, err)
	return b
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
