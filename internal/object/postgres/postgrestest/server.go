// Package postgrestest starts PostgreSQL servers for tests.
package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object/postgres"
)

// Server is a PostgreSQL server that a test started.
type Server struct {
	dir     string // holds the data and the socket
	command *exec.Cmd
	binary  string
	owner   *syscall.SysProcAttr
}

// New makes a database cluster and starts it with some settings. It skips the test if PostgreSQL
// is not installed.
func New(t *testing.T, settings ...string) *Server {
	t.Helper()
	bin := binaries(t)
	dir, err := os.MkdirTemp("", "postgres") // t.TempDir is not accessible to another user
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{dir: dir, binary: filepath.Join(bin, "postgres")}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		account, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no user called postgres")
		}
		uid, err := strconv.Atoi(account.Uid)
		must(t, err)
		gid, err := strconv.Atoi(account.Gid)
		must(t, err)
		must(t, os.Chown(dir, uid, gid))
		s.owner = asUser(uid, gid)
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--no-sync", "--auth=trust", "--username=og", "--encoding=UTF8", "--locale=C", "-D", s.Data())
	initdb.SysProcAttr, initdb.Dir = s.owner, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.Start(t, settings...)
	t.Cleanup(func() { s.Stop(t, os.Interrupt) })
	return s
}

// Data returns the folder of the database cluster.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Start starts the server and waits until it accepts connections.
func (s *Server) Start(t *testing.T, settings ...string) {
	t.Helper()
	args := []string{"-D", s.Data(), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + s.dir}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.command = exec.Command(s.binary, args...)
	s.command.SysProcAttr, s.command.Dir = s.owner, s.dir
	output := &bytes.Buffer{}
	s.command.Stderr = output
	must(t, s.command.Start())
	for range 300 {
		b, err := postgres.Open(t.Context(), s.URL(""))
		if unsafe := (*postgres.UnsafeServerError)(nil); err == nil || errors.As(err, &unsafe) {
			if err == nil {
				b.Close()
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
	t.Fatalf("PostgreSQL does not accept connections; it wrote\n%s", output)
}

// Stop ends the server.
func (s *Server) Stop(t *testing.T, signal os.Signal) {
	if s.command.ProcessState != nil {
		return
	}
	if err := s.command.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	_ = s.command.Wait() // its exit status depends on the signal
}

// URL returns the address of the database with `parameter` added, which is empty or has the form
// name=value.
func (s *Server) URL(parameter string) string {
	return fmt.Sprintf("postgres://og@/postgres?host=%s&%s", url.QueryEscape(s.dir), parameter)
}

// binaries returns the folder of initdb and postgres.
func binaries(t *testing.T) string {
	t.Helper()
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1]) // Debian does not have this folder in PATH
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	t.Skip("PostgreSQL is not installed: there is no initdb")
	return ""
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
