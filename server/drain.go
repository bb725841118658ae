package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// drainTimeout is how long calls under way may take once the server is told to stop.
	drainTimeout = 15 * time.Second

	// cutTimeout is how long calls may take, once their contexts have ended, to say so.
	cutTimeout = 2 * time.Second
)

// Serve answers requests on the listener until the context ends. Then it takes no more,
// and lets the calls under way finish, for at most 15 seconds; the contexts of those
// that take longer end, and in the end their connections. It returns when no call is
// under way, and closes the listener. A listener that fails stops it in the same way.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	calls, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var running handlers
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !running.enter() {
				panic(http.ErrAbortHandler) // its connection is being closed
			}
			defer running.leave()
			s.handler.ServeHTTP(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return calls }, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout,
		WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, DisableGeneralOptionsHandler: true, // OPTIONS * passes the guard, too
		ConnState: s.conns.state, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		// Nothing more is accepted; what is under way ends before the graphs are closed.
		err = errors.Join(err, s.shutdown(srv, cut))
		running.close()
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.metrics.Draining()
	s.log.Info("stopping; calls under way may finish", "timeout", s.drainTimeout)
	err := s.shutdown(srv, cut)
	<-failed
	running.close() // the graphs are closed after this
	return err
}

// shutdown ends what is under way: first it waits, then it ends the contexts, then it
// closes the connections.
func (s *Server) shutdown(srv *http.Server, cut context.CancelFunc) error {
	err := within(s.drainTimeout, srv.Shutdown)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.log.Warn("some calls did not finish in time, and are ended", "timeout", s.drainTimeout)
	cut()
	if err = within(s.cutTimeout, srv.Shutdown); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// What is left waits for its client, which sends too slowly or does not read.
	return srv.Close()
}

// handlers counts handlers, so that none runs when the graphs are closed: a server that
// is closed does not wait for them.
type handlers struct {
	mu     sync.RWMutex // held for reading by handlers
	closed bool
}

func (a *handlers) enter() bool {
	a.mu.RLock()
	if a.closed {
		a.mu.RUnlock()
		return false
	}
	return true
}

func (a *handlers) leave() { a.mu.RUnlock() }

// close waits for the handlers under way, and lets no other begin.
func (a *handlers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}

func within(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}

// Draining reports whether the server was told to stop. It still answers then, on
// connections that it has.
func (s *Server) Draining() bool { return s.draining.Load() }
