package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/pgserver"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// storage is shared storage for a run.
type storage struct {
	label   string // in the tables
	direct  string // its URL
	delayed string // its URL through the delaying proxy; equal to direct without a proxy
	stop    func() // ends what startStorage has started
}

// startStorage starts one of the kinds of storage: s3, postgres or folder. Its files are below dir.
func startStorage(ctx context.Context, kind, dir string, o options) (*storage, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	switch kind {
	case "s3":
		return startS3(ctx, dir, o)
	case "postgres":
		return startPostgres(ctx, dir)
	case "folder":
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		at := "file://" + dir
		return &storage{label: "folder as shared storage", direct: at, delayed: at, stop: func() {}}, nil
	}
	return nil, fmt.Errorf("-storages has %q; write s3, postgres or folder", kind)
}

// startS3 starts versitygw, an S3 server over a folder, and a proxy before it.
func startS3(ctx context.Context, dir string, o options) (*storage, error) {
	if err := os.MkdirAll(filepath.Join(dir, "graphs"), 0o755); err != nil {
		return nil, err
	}
	// The gateway takes an address and not a listener, so the port is free only with high probability.
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	at := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	const key, secret = "bench", "bench-secret"
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	server := exec.CommandContext(ctx, o.gateway, "--access", key, "--secret", secret, "--port", at, "--quiet", "posix", dir)
	if err := start(server); err != nil {
		return nil, fmt.Errorf("versitygw: %w; `make bench-shared` builds it", err)
	}
	if err := answers(ctx, func() error {
		c, err := net.Dial("tcp", at)
		if err == nil {
			err = c.Close()
		}
		return err
	}); err != nil {
		return nil, errors.Join(err, end(server))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, end(server))
	}
	front := &http.Server{Handler: proxy(&url.URL{Scheme: "http", Host: at}, o.delays, pause), ReadHeaderTimeout: time.Minute}
	go func() { _ = front.Serve(listener) }() // ends with front.Close
	bucket := func(at string) string {
		return "s3://graphs?endpoint=" + url.QueryEscape("http://"+at)
	}
	return &storage{
		label: fmt.Sprintf("versitygw, reads %v and writes %v later", o.delays.read, o.delays.write), direct: bucket(at), delayed: bucket(listener.Addr().String()),
		stop: func() { _ = errors.Join(front.Close(), end(server)) },
	}, nil
}

// startPostgres starts a PostgreSQL server, which accepts connections over a Unix socket.
func startPostgres(ctx context.Context, dir string) (*storage, error) {
	server, err := pgserver.New(ctx, dir, false)
	if err != nil {
		return nil, err
	}
	stop := func() { _ = server.Stop(os.Interrupt) }
	if err := answers(ctx, func() error {
		_, done, err := address.Open(ctx, server.URL)
		if err == nil {
			done()
		}
		return err
	}); err != nil {
		stop()
		return nil, err
	}
	return &storage{label: "PostgreSQL", direct: server.URL, delayed: server.URL, stop: stop}, nil
}

// start starts a server that ends with SIGINT.
func start(server *exec.Cmd) error {
	server.Stderr = &bytes.Buffer{}
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	return server.Start()
}

// end stops a server. The error says what the server wrote.
func end(server *exec.Cmd) error {
	_ = server.Process.Signal(os.Interrupt) // it may have ended
	if err := server.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(server.Path), err, strings.TrimSpace(server.Stderr.(*bytes.Buffer).String()))
	}
	return nil
}

// answers repeats a request for up to 30 seconds until it succeeds.
func answers(ctx context.Context, request func() error) (err error) {
	for range 300 {
		if err = request(); err == nil || ctx.Err() != nil {
			break
		}
		pause(ctx, 100*time.Millisecond)
	}
	return err
}
