package credentials

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/zalando/go-keyring"
)

// sessionVar is the environment variable that is set in the process that runs on a session bus of
// its own.
const sessionVar = "TEST_CREDENTIALS_SESSION"

// TestSecretService reads a token from a Secret Service over a D-Bus session bus. The test itself
// implements the service.
func TestSecretService(t *testing.T) {
	if os.Getenv(sessionVar) != "" {
		onSessionBus(t)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the Secret Service is tested on Linux")
	}
	run, err := exec.LookPath("dbus-run-session")
	if err != nil {
		t.Skip("dbus-run-session is not installed")
	}
	cmd := exec.CommandContext(t.Context(), run, "--", os.Args[0], "-test.run=^TestSecretService$", "-test.v")
	cmd.Env = append(os.Environ(), sessionVar+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestSecretService")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func onSessionBus(t *testing.T) {
	c, err := InFile("config.yaml", configOf("{ keyring: omnigraph }"), server)
	if err != nil {
		t.Fatal(err)
	}
	const where = `get the token at config.yaml:3:12 from the keyring, service "omnigraph", user "` + server + `": `
	if _, err := c.Token(t.Context()); err == nil || !strings.HasPrefix(err.Error(), where+"the keyring cannot be read: ") {
		t.Errorf("without a service: %v", err)
	}
	service := &secretService{entries: map[string]string{}}
	service.start(t)
	if _, err := c.Token(t.Context()); err == nil || err.Error() != where+"the keyring has no such entry; store the token under this service and user" {
		t.Errorf("without an entry: %v", err)
	}
	service.set(secret)
	if token, err := c.Token(t.Context()); err != nil || token != secret {
		t.Errorf("found %q, %v", token, err)
	}
	service.set(secret + "\n" + secret)
	if _, err := c.Token(t.Context()); err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "the entry is a text that contains a blank, a line break") {
		t.Errorf("found %v", err)
	}
	before := timeLimit
	timeLimit = 200 * time.Millisecond
	t.Cleanup(func() { timeLimit = before })
	unlock := service.lock()
	if _, err := c.Token(t.Context()); err == nil || err.Error() != where+"the keyring did not answer within 200ms; unlock it" {
		t.Errorf("locked: %v", err)
	}
	unlock()
}

// TestKeyringOfMemory reads an entry of the in-memory keyring that the library offers for tests. The
// library replaces the keyring of the whole process; TestSecretService runs in a process of its own.
func TestKeyringOfMemory(t *testing.T) {
	keyring.MockInit()
	if err := keyring.Set("omnigraph", server, secret); err != nil {
		t.Fatal(err)
	}
	// The slash at the end of the URL does not matter.
	c, err := InFile("config.yaml", []byte("servers: { \""+server+"/\": { token: { keyring: omnigraph } } }"), server)
	if err != nil {
		t.Fatal(err)
	}
	if token, err := c.Token(t.Context()); err != nil || token != secret {
		t.Errorf("found %q, %v", token, err)
	}
}

// secretService is a Secret Service with one collection. Its objects answer the calls that a reader
// makes, as https://specifications.freedesktop.org/secret-service/ describes them.
type secretService struct {
	mu      sync.Mutex        // guards the rest; the connection calls the methods on goroutines
	entries map[string]string // keyed by the service, a space and the user name
	hang    chan struct{}     // if set, Unlock waits until it is closed
	found   string            // key of the entry that the last search found
}

const (
	secretsPath = dbus.ObjectPath("/org/freedesktop/secrets")
	sessionPath = secretsPath + "/session/1"
	itemPath    = secretsPath + "/item/1"
)

func (s *secretService) start(t *testing.T) {
	t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, object := range []struct {
		methods any
		path    dbus.ObjectPath
		name    string
	}{
		{s, secretsPath, "org.freedesktop.Secret.Service"},
		{collection{s}, secretsPath + "/aliases/default", "org.freedesktop.Secret.Collection"},
		{item{s}, itemPath, "org.freedesktop.Secret.Item"},
		{session{}, sessionPath, "org.freedesktop.Secret.Session"},
	} {
		if err := conn.Export(object.methods, object.path, object.name); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
}

// set sets the token of the entry for server.
func (s *secretService) set(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries["omnigraph "+server] = token
}

// lock makes Unlock wait until the returned function is called.
func (s *secretService) lock() (unlock func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hang := make(chan struct{})
	s.hang = hang
	return func() { close(hang) }
}

func (s *secretService) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), sessionPath, nil
}

func (s *secretService) Unlock(objects []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	hang := s.hang
	s.mu.Unlock()
	if hang != nil {
		<-hang
	}
	return objects, "/", nil
}

type collection struct{ *secretService }

func (c collection) SearchItems(attributes map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := attributes["service"] + " " + attributes["username"]
	if _, ok := c.entries[key]; !ok {
		return []dbus.ObjectPath{}, nil
	}
	c.found = key
	return []dbus.ObjectPath{itemPath}, nil
}

type item struct{ *secretService }

func (i item) GetSecret(session dbus.ObjectPath) (struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}, *dbus.Error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return struct {
		Session     dbus.ObjectPath
		Parameters  []byte
		Value       []byte
		ContentType string
	}{session, nil, []byte(i.entries[i.found]), "text/plain"}, nil
}

type session struct{}

func (session) Close() *dbus.Error { return nil }
