// Package pgserver runs PostgreSQL servers for tests and benchmarks.
package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Absent is the error of New on a machine that cannot run PostgreSQL.
type Absent struct{ Reason string }

func (e *Absent) Error() string { return e.Reason }

// Server is a server with a database cluster of its own.
type Server struct {
	URL string // of the database

	dir      string // holds the cluster and the Unix socket
	programs string // folder of initdb and postgres
	owner    *syscall.SysProcAttr
	args     []string
	command  *exec.Cmd
	output   bytes.Buffer // of the server process
}

const (
	roleName  = "og"             // the role that owns the database
	startTime = 30 * time.Second // limit of the time until the server accepts connections
	stopTime  = 10 * time.Second // limit of the time until the server has stopped after the context has ended
)

// New makes a database cluster in a folder that exists, and starts a server on it with settings such as fsync=off.
// The server accepts connections over TCP on the loopback interface if tcp is true, and otherwise over a Unix
// socket in the folder. PostgreSQL refuses to run as root; then the user of Debian's package runs it and owns
// the folder. The error is an *Absent if PostgreSQL is not installed.
func New(ctx context.Context, dir string, tcp bool, settings ...string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: SocketURL(dir), dir: dir}
	if s.programs, err = programs(); err != nil {
		return nil, err
	}
	if err := s.own(); err != nil {
		return nil, err
	}
	initdb := s.run(ctx, "initdb", "--no-sync", "-D", s.Data(), "-A", "trust", "-U", roleName, "-E", "UTF8", "--locale=C")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s.args = []string{"-D", s.Data(), "-k", dir}
	if tcp {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s.URL = "postgres://" + roleName + "@127.0.0.1:" + port + "/postgres?sslmode=disable"
		s.args = append(s.args, "-h", "127.0.0.1", "-p", port)
	} else {
		s.args = append(s.args, "-h", "")
	}
	if err := s.Start(ctx, settings...); err != nil {
		return nil, err
	}
	return s, nil
}

// SocketURL returns the URL of the database of a server with a Unix socket in a folder.
func SocketURL(dir string) string {
	return "postgres://" + roleName + "@/postgres?host=" + url.QueryEscape(dir)
}

// Data returns the folder of the database cluster.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// PID returns the process id of the server's main process, the parent of its other processes.
func (s *Server) PID() int { return s.command.Process.Pid }

// Start starts a server that has stopped, with settings that hold until it stops again, and waits until it accepts
// connections. The server stops when the context ends.
func (s *Server) Start(ctx context.Context, settings ...string) error {
	args := slices.Clone(s.args)
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.output.Reset()
	s.command = s.run(ctx, "postgres", args...)
	s.command.Stderr = &s.output
	s.command.Cancel = func() error { return s.command.Process.Signal(os.Interrupt) }
	s.command.WaitDelay = stopTime
	if err := s.command.Start(); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	if err := s.answers(ctx); err != nil {
		return errors.Join(err, s.Stop(os.Kill), errors.New(strings.TrimSpace(s.output.String())))
	}
	return nil
}

// answers waits until the server accepts connections.
func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, s.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not accept connections: %w", err)
		}
	}
}

// Stop ends the server with a signal: os.Interrupt stops it with a checkpoint, and syscall.SIGQUIT without one. After
// os.Interrupt the error contains the output of a server that failed. Stop does nothing if the server does not run.
func (s *Server) Stop(signal os.Signal) error {
	if s.command.Process == nil || s.command.ProcessState != nil {
		return nil
	}
	_ = s.command.Process.Signal(signal) // it may have ended
	if err := s.command.Wait(); err != nil && signal == os.Interrupt {
		return fmt.Errorf("postgres: %w\n%s", err, strings.TrimSpace(s.output.String()))
	}
	return nil
}

// run returns a command of PostgreSQL that runs in the folder of the server, as the user who owns it.
func (s *Server) run(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(s.programs, name), args...)
	c.Dir, c.SysProcAttr = s.dir, s.owner
	return c
}

// own gives the folder to the user who must run the server, if the current user cannot.
func (s *Server) own() error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return &Absent{"PostgreSQL refuses to run as root, and the user postgres does not exist"}
	}
	uid, faultOfUser := strconv.Atoi(u.Uid)
	gid, faultOfGroup := strconv.Atoi(u.Gid)
	if err := errors.Join(faultOfUser, faultOfGroup); err != nil {
		return err
	}
	s.owner = asUser(uid, gid)
	return os.Chown(s.dir, uid, gid)
}

// freePort returns a port on which nothing listens. Another process may take it before the server does.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// programs returns the folder of initdb and postgres. Debian does not have it in PATH.
func programs() (string, error) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", &Absent{"the command initdb is missing; install the package postgresql"}
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}
