// Package postgrestest starts PostgreSQL servers for tests.
package postgrestest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

// Server is a PostgreSQL server that a test started. It runs until the test has ended.
type Server struct{ server *pgserver.Server }

// New makes a database cluster and starts it with some settings. It skips the test if PostgreSQL
// is not installed.
func New(t *testing.T, settings ...string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres") // t.TempDir is not accessible to another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s, err := pgserver.New(context.WithoutCancel(t.Context()), dir, false, settings...)
	if absent := (*pgserver.Absent)(nil); errors.As(err, &absent) {
		t.Skip(absent.Reason)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(os.Interrupt); err != nil {
			t.Error(err)
		}
	})
	return &Server{s}
}

// Data returns the folder of the database cluster.
func (s *Server) Data() string { return s.server.Data() }

// Start starts a server that has stopped, with some settings, and waits until it accepts connections.
func (s *Server) Start(t *testing.T, settings ...string) {
	t.Helper()
	if err := s.server.Start(context.WithoutCancel(t.Context()), settings...); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the server with a signal.
func (s *Server) Stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := s.server.Stop(signal); err != nil {
		t.Error(err)
	}
}

// URL returns the address of the database with `parameter` added, which is empty or has the form
// name=value.
func (s *Server) URL(parameter string) string { return s.server.URL + "&" + parameter }
