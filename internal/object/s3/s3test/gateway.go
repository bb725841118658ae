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

	"github.com/omnigraph-go/omnigraph/internal/object/s3"
)

// gatewayVariable names the environment variable with the path of versitygw, an S3 server that
// keeps objects in a folder. `make test-s3` builds versitygw.
const gatewayVariable = "OMNIGRAPH_TEST_VERSITYGW"

// Start starts versitygw over an empty folder that has the bucket "graphs", and returns its URL.
func Start(t *testing.T) string {
	t.Helper()
	program := os.Getenv(gatewayVariable)
	if program == "" {
		t.Skipf("%s does not name a versitygw; run make test-s3", gatewayVariable)
	}
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/graphs", 0o755))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())
	gateway := exec.Command(program, "--access", "key", "--secret", "secret", "--port", address, "--quiet", "posix", dir)
	output := &bytes.Buffer{}
	gateway.Stdout, gateway.Stderr = output, output
	must(t, gateway.Start())
	t.Cleanup(func() {
		_ = gateway.Process.Kill()
		_ = gateway.Wait()
	})
	for range 300 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = gateway.Process.Kill()
	_ = gateway.Wait() // afterwards nothing writes to `output`
	t.Fatalf("versitygw does not accept connections; it wrote\n%s", output)
	return ""
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
