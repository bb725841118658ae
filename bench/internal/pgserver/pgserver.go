// Package pgserver runs PostgreSQL servers, with which benchmarks compare or on which they store graphs.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Absent is the error of Start on a machine that cannot run PostgreSQL.
type Absent struct{ Reason string }

func (e *Absent) Error() string { return e.Reason }

// Server is a running server with a database cluster of its own.
type Server struct {
	URL string // of the database

	cmd    *exec.Cmd
	output bytes.Buffer // of the server process
}

const (
	roleName  = "og"             // the role that owns the database
	startTime = 30 * time.Second // limit of the time until the server accepts connections
	stopTime  = 10 * time.Second // limit of the time until the server has stopped
)

// Start makes a database cluster in a folder that exists, and starts a server on it with the default settings.
// The server accepts connections over TCP on the loopback interface if tcp is true, and otherwise over a Unix
// socket in the folder. PostgreSQL refuses to run as root; then the user of Debian's package runs it and owns
// the folder. The error is an *Absent if PostgreSQL is not installed.
func Start(ctx context.Context, dir string, tcp bool) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	as, err := owner()
	if err != nil {
		return nil, err
	}
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
		return c
	}
	if out, err := command("initdb", "-D", data, "-A", "trust", "-U", roleName, "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s := &Server{URL: "postgres://" + roleName + "@/postgres?host=" + url.QueryEscape(dir)}
	args := []string{"-D", data, "-k", dir}
	if tcp {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s.URL = "postgres://" + roleName + "@127.0.0.1:" + port + "/postgres?sslmode=disable"
		args = append(args, "-h", "127.0.0.1", "-p", port)
	} else {
		args = append(args, "-h", "")
	}
	s.cmd = command("postgres", args...)
	s.cmd.Stderr = &s.output
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = stopTime
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if err := s.answers(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
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
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not accept connections: %w", err)
		}
	}
}

// Stop stops the server. The error contains the output of a server that failed.
func (s *Server) Stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("postgres: %w\n%s", err, strings.TrimSpace(s.output.String()))
	}
	return nil
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
	return filepath.Dir(path), nil
}

// owner returns the user that must run the server, or nil for the current user.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, &Absent{"PostgreSQL refuses to run as root, and the user postgres does not exist"}
	}
	uid, faultOfUser := strconv.ParseUint(u.Uid, 10, 32)
	gid, faultOfGroup := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(faultOfUser, faultOfGroup); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
