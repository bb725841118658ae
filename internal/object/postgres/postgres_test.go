package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object"
	"github.com/omnigraph-go/omnigraph/internal/object/objecttest"
	"github.com/omnigraph-go/omnigraph/internal/object/postgres"
)

// server is a PostgreSQL server that a test started.
type server struct {
	dir     string // holds the data and the socket
	command *exec.Cmd
	binary  string
	owner   *syscall.SysProcAttr
}

// newServer makes a database cluster and starts it with some settings. It skips the test if PostgreSQL
// is not installed.
func newServer(t *testing.T, settings ...string) *server {
	t.Helper()
	bin := binaries(t)
	dir, err := os.MkdirTemp("", "postgres") // t.TempDir is not accessible to another user
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{dir: dir, binary: filepath.Join(bin, "postgres")}
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
		s.owner = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--no-sync", "--auth=trust", "--username=og", "--encoding=UTF8", "--locale=C", "-D", s.data())
	initdb.SysProcAttr, initdb.Dir = s.owner, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.start(t, settings...)
	t.Cleanup(func() { s.stop(t, os.Interrupt) })
	return s
}

// data returns the folder of the database cluster.
func (s *server) data() string { return filepath.Join(s.dir, "data") }

// start starts the server and waits until it accepts connections.
func (s *server) start(t *testing.T, settings ...string) {
	t.Helper()
	args := []string{"-D", s.data(), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + s.dir}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.command = exec.Command(s.binary, args...)
	s.command.SysProcAttr, s.command.Dir = s.owner, s.dir
	output := &bytes.Buffer{}
	s.command.Stderr = output
	must(t, s.command.Start())
	for range 300 {
		b, err := postgres.Open(t.Context(), s.url(""))
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

// stop ends the server.
func (s *server) stop(t *testing.T, signal os.Signal) {
	if s.command.ProcessState != nil {
		return
	}
	if err := s.command.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	_ = s.command.Wait() // its exit status depends on the signal
}

// url returns the address of the database with `parameter` added, which is empty or has the form
// name=value.
func (s *server) url(parameter string) string {
	return fmt.Sprintf("postgres://og@/postgres?host=%s&%s", url.QueryEscape(s.dir), parameter)
}

// open opens a Bucket in a schema.
func (s *server) open(t *testing.T, schema string) *postgres.Bucket {
	t.Helper()
	b, err := postgres.Open(t.Context(), s.url("schema="+schema))
	must(t, err)
	t.Cleanup(b.Close)
	return b
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBucket(t *testing.T) {
	s := newServer(t)
	objecttest.Run(t, func(t *testing.T) object.Bucket { return s.open(t, "suite") })

	t.Run("parts", func(t *testing.T) {
		b := s.open(t, "parts")
		const part = 4 << 20
		data := make([]byte, 2*part+100)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		must(t, b.Create(t.Context(), "created", data))
		must(t, b.Upload(t.Context(), "uploaded", bytes.NewReader(data), int64(len(data))))
		must(t, b.Put(t.Context(), "put", append(data, data...)))
		must(t, b.Put(t.Context(), "put", data))
		for _, name := range []string{"created", "uploaded", "put"} {
			for _, r := range [][2]int{{0, object.Whole}, {0, 10}, {part - 5, 10}, {part, 10}, {part, part}, {10, 2 * part}, {2*part - 1, 2}, {2*part + 50, 1000}, {3 * part, 10}, {10 << 32, 10}} {
				want := data[min(r[0], len(data)):]
				if r[1] != object.Whole {
					want = want[:min(r[1], len(want))]
				}
				got, err := b.Read(t.Context(), name, int64(r[0]), int64(r[1]))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %d bytes at %d: %d bytes, %v; want %d", name, r[1], r[0], len(got), err, len(want))
				}
			}
		}
		if err := b.Create(t.Context(), "put", append(data, data...)); !errors.Is(err, object.ErrExists) {
			t.Errorf("a larger object is created under a taken name: %v", err)
		}
		must(t, b.Delete(t.Context(), "created"))
		must(t, b.Create(t.Context(), "created", data[:1]))
		if got, err := b.Read(t.Context(), "created", 0, object.Whole); err != nil || len(got) != 1 {
			t.Errorf("the object has %d bytes, %v; want 1", len(got), err)
		}
	})

	t.Run("first use", func(t *testing.T) {
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() {
				b, err := postgres.Open(context.Background(), s.url("schema=new"))
				if err == nil {
					b.Close()
				}
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Errorf("servers that make the table at the same time: %v", err)
			}
		}
	})
}

// TestRefused checks that Open refuses servers that could lose acknowledged objects.
func TestRefused(t *testing.T) {
	s := newServer(t)
	for _, tt := range []struct{ setting, want string }{
		{"synchronous_commit=off", "synchronous_commit is off"},
		{"fsync=off", "fsync is off"},
		{"", "in recovery"},
	} {
		s.stop(t, os.Interrupt)
		var settings []string
		if tt.setting != "" {
			settings = []string{tt.setting}
		} else {
			must(t, os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o644))
		}
		s.start(t, settings...)
		_, err := postgres.Open(t.Context(), s.url(""))
		unsafe := (*postgres.UnsafeServerError)(nil)
		if !errors.As(err, &unsafe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("with %q: %v; want an UnsafeServerError that says %q", tt.setting, err, tt.want)
		}
	}
}

// TestCrash kills the server. Until the restart, calls must report that the storage is busy or that
// the outcome is unknown. After the recovery, every acknowledged object must exist.
func TestCrash(t *testing.T) {
	s := newServer(t)
	b := s.open(t, "crash")
	var acknowledged []string
	create := func(i int) error {
		name := fmt.Sprintf("log/%03d", i)
		err := b.Create(t.Context(), name, []byte(name))
		if err == nil {
			acknowledged = append(acknowledged, name)
		}
		return err
	}
	for i := range 50 {
		must(t, create(i))
	}
	s.stop(t, syscall.SIGQUIT) // PostgreSQL's immediate shutdown, which needs a recovery
	if err := create(50); !errors.Is(err, object.ErrBusy) && !errors.Is(err, object.ErrUnknown) {
		t.Errorf("Create without a server returns %v", err)
	}
	if _, err := b.Read(t.Context(), "log/000", 0, object.Whole); !errors.Is(err, object.ErrBusy) && !errors.Is(err, object.ErrUnknown) {
		t.Errorf("Read without a server returns %v", err)
	}
	s.start(t)
	must(t, create(51))
	for _, name := range acknowledged {
		if got, err := b.Read(t.Context(), name, 0, object.Whole); err != nil || string(got) != name {
			t.Errorf("after the crash, %s is %q, %v", name, got, err)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, address := range []string{"", "mysql://x", "postgres://h/db?sslmode=wrong", "%"} {
		if _, err := postgres.Open(t.Context(), address); err == nil {
			t.Errorf("the address %q is accepted", address)
		}
	}
}
