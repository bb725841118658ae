//go:build azure

package azuretest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/omnigraph-go/omnigraph/internal/storage/object/azure"
)

const (
	// folderVariable names the environment variable with the folder in which npm installed azurite.
	// `make test-azure` installs it.
	folderVariable = "OMNIGRAPH_TEST_AZURITE"

	account = "graphs"
)

// key is the key of the account.
var key = base64.StdEncoding.EncodeToString([]byte("a key for tests, which has to be of some length"))

// Start starts azurite over an empty folder with the container "graphs", and returns the URL of the
// account. It also sets the environment variable for the credentials.
func Start(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(folderVariable)
	if folder == "" {
		t.Skipf("%s does not name a folder with azurite; run make test-azure", folderVariable)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	at := listener.Addr().String()
	port := listener.Addr().(*net.TCPAddr).Port
	must(t, listener.Close())
	// azurite does not know the newest versions of the protocol, which the SDK names in its requests.
	server := exec.Command("node", filepath.Join(folder, "node_modules/azurite/dist/src/blob/main.js"), "--silent", "--skipApiVersionCheck",
		"--disableTelemetry", "--location", t.TempDir(), "--blobHost", "127.0.0.1", "--blobPort", strconv.Itoa(port))
	server.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+account+":"+key)
	output := &bytes.Buffer{}
	server.Stdout, server.Stderr = output, output
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 300 {
		if conn, err := net.Dial("tcp", at); err == nil {
			conn.Close()
			t.Setenv("AZURE_STORAGE_KEY", key)
			service := "http://" + at + "/" + account
			credential, err := container.NewSharedKeyCredential(account, key)
			must(t, err)
			client, err := container.NewClientWithSharedKeyCredential(service+"/graphs", credential, nil)
			must(t, err)
			_, err = client.Create(t.Context(), nil)
			must(t, err)
			return service
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = server.Process.Kill()
	_ = server.Wait() // afterwards nothing writes to `output`
	t.Fatalf("azurite does not accept connections; it wrote\n%s", output)
	return ""
}

// URL returns the address of a storage below a prefix of the container of [Start].
func URL(service, prefix string) string {
	return fmt.Sprintf("azblob://graphs/%s?account=%s&endpoint=%s", prefix, account, url.QueryEscape(service))
}

// Open opens a Bucket at the server of [Start].
func Open(t *testing.T, service string) *azure.Bucket {
	t.Helper()
	b, err := azure.Open(URL(service, "prod/one"))
	must(t, err)
	t.Cleanup(b.Close)
	return b
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
