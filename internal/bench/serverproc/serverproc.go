// Package serverproc runs a server as a separate process, as users do.
package serverproc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// startLimit is the maximum time that a server may take until it listens.
const startLimit = 30 * time.Second

// Server is a running server process.
type Server struct {
	Addr string // host:port on which it listens

	cmd   *exec.Cmd  // the process
	ended chan error // receives one value after the process has ended
	log   tail       // the end of the standard error
}

// Start starts the command and waits until it prints OMNIGRAPH_LISTEN_ADDR=host:port on its
// standard output. Its standard error is copied to the writer `log`, which may be nil. The command
// must not come from exec.CommandContext: Terminate and Kill end it.
func Start(ctx context.Context, cmd *exec.Cmd, log io.Writer) (*Server, error) {
	s := &Server{cmd: cmd, ended: make(chan error, 1), log: tail{all: log}}
	cmd.Stderr = &s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if addr, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR="); ok {
				listening <- addr
			}
		}
		s.ended <- cmd.Wait()
	}()
	err = fmt.Errorf("the server did not listen within %v", startLimit)
	select {
	case s.Addr = <-listening:
		return s, nil
	case err := <-s.ended:
		return nil, fmt.Errorf("the server did not start: %v\n%s", err, s.Log())
	case <-time.After(startLimit):
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Kill()
	return nil, fmt.Errorf("%w\n%s", err, s.Log())
}

// Environ returns the environment of this process without the variables that begin with OMNIGRAPH_,
// plus a token for each actor.
func Environ(tokens map[string]string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "OMNIGRAPH_") {
			env = append(env, kv)
		}
	}
	for actor, token := range tokens {
		env = append(env, "OMNIGRAPH_TOKEN_"+strings.ToUpper(strings.ReplaceAll(actor, "-", "_"))+"="+token)
	}
	return env
}

// Log returns the last 4 KiB that the server wrote to its standard error.
func (s *Server) Log() string { return s.log.last(4096) }

// Exited returns a channel that receives one value if the process ends by itself.
func (s *Server) Exited() <-chan error { return s.ended }

// Terminate sends SIGTERM and waits until the process has ended. It kills the process after the
// limit. It returns the time that this took, and an error unless the process ended with status 0
// within the limit.
func (s *Server) Terminate(limit time.Duration) (time.Duration, error) {
	start := clock.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	select {
	case err := <-s.ended:
		s.ended <- err
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, s.Log())
		}
		return clock.Since(start), err
	case <-time.After(limit):
		s.Kill()
		return clock.Since(start), fmt.Errorf("the server was still running %v after SIGTERM\n%s", limit, s.Log())
	}
}

// Kill ends the process if it still runs, and waits for its end.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails if the process has ended
	s.ended <- <-s.ended
}

// Status returns the lines of the server's /proc/PID/status; see [Status].
func (s *Server) Status() (map[string]string, error) { return Status(s.cmd.Process.Pid) }

// Status returns the lines of /proc/PID/status of a process by name, without their colons.
func Status(pid int) (map[string]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil, err
	}
	status := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	return status, nil
}

// KiB returns the size in a line of a status.
func KiB(status map[string]string, name string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(status[name], " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading %s of the process: %w", name, err)
	}
	return n, nil
}

// ticksPerSecond is USER_HZ, the unit of the times in /proc/PID/stat; it is 100 on every
// platform on which Go runs on Linux.
const ticksPerSecond = 100

// CPU returns the processor time that the process has used, in steps of 10 ms.
func (s *Server) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The second field is the name in parentheses, which may hold spaces; see proc_pid_stat(5).
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat has too few fields")
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// tail keeps the last bytes written to it and forwards everything to the writer `all`.
type tail struct {
	all io.Writer // may be nil

	mu  sync.Mutex
	end []byte // at least the last maxTail bytes, if so many were written
}

// maxTail is the number of bytes that a tail keeps.
const maxTail = 64 << 10

// Write implements [io.Writer]. It keeps the end of what was written.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if len(t.end) > 2*maxTail {
		t.end = bytes.Clone(t.end[len(t.end)-maxTail:])
	}
	if t.all != nil {
		return t.all.Write(p)
	}
	return len(p), nil
}

// last returns the last n bytes, or all that were kept if there are fewer.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end[max(0, len(t.end)-n):])
}
