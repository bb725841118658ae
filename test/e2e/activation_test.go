package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// supervisor is a shell that systemd-socket-activate starts with the socket, and that keeps the
// socket open while servers come and go, as systemd does for a socket unit. Its lines are commands:
// "start" starts a server on the socket, "wait ID" waits for the end of a process.
type supervisor struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.Writer
	stderr strings.Builder // also of its servers; it is complete when cmd has ended
	lines  chan string     // what it and its servers write to standard output
}

// supervise is the shell's program. Each server gets the socket as descriptor 3, and LISTEN_PID must
// be its process id.
const supervise = `while read -r verb id; do
	case $verb in
	start) sh -c 'LISTEN_PID=$$ exec "$0" "$@"' "$@" & echo "started $!" ;;
	wait) status=0; wait "$id" || status=$?; echo "ended $id $status" ;;
	esac
done`

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// superviseSocket lets systemd-socket-activate open a socket and start a supervisor with it, whose
// servers have the command line args.
func superviseSocket(t *testing.T, addr string, args ...string) *supervisor {
	t.Helper()
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is not installed")
	}
	s := &supervisor{t: t, cmd: exec.Command(activate, append([]string{"--listen=" + addr, "/bin/sh", "-c", supervise, "supervisor"}, args...)...), lines: make(chan string, 1000)}
	s.cmd.Stderr = &s.stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	go func() {
		defer close(s.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	// systemd-socket-activate starts the supervisor at the first connection.
	for deadline := clock.Now().Add(30 * time.Second); ; {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return s
		}
		if clock.Now().After(deadline) {
			t.Fatalf("systemd-socket-activate does not listen: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// line returns the rest of the next line that starts with the prefix.
func (s *supervisor) line(prefix string) string {
	s.t.Helper()
	stuck := time.After(time.Minute)
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				_ = s.cmd.Wait()
				s.t.Fatalf("the supervisor ended without a line %q: %s", prefix, s.stderr.String())
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
		case <-stuck:
			s.t.Fatalf("the supervisor wrote no line %q within a minute", prefix)
		}
	}
}

// launch starts a server on the socket and returns it with its token.
func (s *supervisor) launch() (upgradable, string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, "start"); err != nil {
		s.t.Fatal(err)
	}
	id, err := strconv.Atoi(s.line("started "))
	if err != nil {
		s.t.Fatal(err)
	}
	server := &supervised{supervisor: s, id: id}
	s.t.Cleanup(func() {
		if !server.waited {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	})
	return server, s.line("OMNIGRAPH_DEV_TOKEN=")
}

// stop ends the supervisor, which has no server any more.
func (s *supervisor) stop() {
	s.t.Helper()
	if err := s.in.(io.Closer).Close(); err != nil {
		s.t.Error(err)
	}
	for range s.lines {
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the supervisor ended with %v: %s", err, s.stderr.String())
	}
}

// supervised is a server that a supervisor started.
type supervised struct {
	*supervisor
	id     int  // of its process
	waited bool // whether the process has ended, so that its id may belong to another one
}

func (s *supervised) term() {
	s.t.Helper()
	if err := syscall.Kill(s.id, syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
}

func (s *supervised) ended() error {
	if _, err := fmt.Fprintln(s.in, "wait", s.id); err != nil {
		return err
	}
	status := s.line(fmt.Sprintf("ended %d ", s.id))
	s.waited = true
	if status != "0" {
		return fmt.Errorf("status %s", status)
	}
	return nil
}

// TestSocketActivation starts the server with systemd's own program, which listens and starts the
// server at the first connection. That first call must be answered.
func TestSocketActivation(t *testing.T) {
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is not installed")
	}
	dir, addr := clusterDir(t), freeAddress(t)
	cmd := exec.Command(activate, "--listen="+addr, filepath.Join(bin, "omnigraph-server"), "--cluster", dir, "--bind", addr, "--dev")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, stderr.String())
		}
	}()
	for range 100 {
		res, err := http.Get("http://" + addr + "/readyz")
		if err != nil {
			time.Sleep(50 * time.Millisecond) // systemd-socket-activate does not listen yet
			continue
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("/readyz has status %d", res.StatusCode)
		}
		return
	}
	t.Errorf("no answer from %s: %s", addr, stderr.String())
}
