package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	pgUser    = "postgres" // the user of the database
	socketDir = "socket"   // folder of the Unix socket
)

// pgServer is a PostgreSQL server in a folder. It accepts connections only over a Unix socket.
type pgServer struct {
	cmd *exec.Cmd    // the server process
	log bytes.Buffer // output of the server
}

// startPostgres makes a database cluster in dir and starts a server on it. PostgreSQL refuses to
// run as root; in that case the user of Debian's package runs the server. The error is an
// *absentError if PostgreSQL is not installed.
func startPostgres(ctx context.Context, dir string) (*pgServer, error) {
	bin, err := pgBin()
	if err != nil {
		return nil, err
	}
	as, err := serverUser()
	if err != nil {
		return nil, err
	}
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, socketDir)
	if err := os.Mkdir(socket, 0o700); err != nil {
		return nil, err
	}
	if as != nil {
		for _, d := range []string{dir, socket} {
			if err := os.Chown(d, int(as.Uid), int(as.Gid)); err != nil {
				return nil, err
			}
		}
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGINT}
		return cmd
	}
	if out, err := run("initdb", "-D", data, "-U", pgUser, "-A", "trust", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// The durability settings are the defaults. The other settings are the ones that tuning guides
	// recommend first for data that fits in memory. Just-in-time compilation would only slow these
	// queries.
	s := &pgServer{cmd: run("postgres", "-D", data, "-k", socket, "-h", "", "-c", "shared_buffers=512MB", "-c", "work_mem=64MB",
		"-c", "maintenance_work_mem=256MB", "-c", "effective_cache_size=4GB", "-c", "random_page_cost=1.1", "-c", "jit=off",
		"-c", "max_wal_size=4GB")}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGINT) }
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		if conn, err := pgConn(ctx, dir); err == nil {
			return s, conn.Close(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the PostgreSQL server does not answer"), s.stop())
}

// pid returns the process id of the server's main process, the parent of its other processes.
func (s *pgServer) pid() int { return s.cmd.Process.Pid }

// stop stops the server and waits for its end.
func (s *pgServer) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("postgres: %w\n%s", err, s.log.Bytes())
	}
	return nil
}

// pgBin returns the folder of the server's programs, which Debian does not put in PATH.
func pgBin() (string, error) {
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", absent("the command initdb is missing; install the package postgresql")
	}
	path, err = filepath.EvalSymlinks(path)
	return filepath.Dir(path), err
}

// serverUser returns the user that must run the server, or nil for the current user.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(pgUser)
	if err != nil {
		return nil, absent("PostgreSQL does not run as root, and there is no user %s", pgUser)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// diskBytes returns the disk space that the files below a folder use.
func diskBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n += info.Sys().(*syscall.Stat_t).Blocks * 512
		return nil
	})
	return n, err
}
