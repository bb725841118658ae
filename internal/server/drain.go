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
	// drainTimeout is how long in-flight calls may take after the server is asked to stop.
	drainTimeout = 15 * time.Second

	// lingerTimeout is how long idle connections stay open after the server is asked to stop. A client
	// that sends calls in succession reuses its connection within this time, and is asked to connect again:
	// to the next server, or to another server that shares the storage.
	lingerTimeout = time.Second

	// cutTimeout is how long calls may take to return after their contexts are cancelled.
	cutTimeout = 2 * time.Second
)

// Serve answers requests on the listener until ctx ends. Then it accepts no more requests and
// lets in-flight calls finish, for at most 15 seconds. It cancels the contexts of calls that
// take longer, and finally closes their connections. Serve closes the listener and returns when
// no call is in flight. If the listener fails, Serve stops in the same way.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	calls, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	handler, withdraw := s.controlled(ln.Addr())
	defer withdraw()
	following, unfollow := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { s.followRevisions(following) })
	defer watch.Wait()
	defer unfollow()
	var running handlers
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !running.enter() {
				panic(http.ErrAbortHandler) // the server is closing this connection
			}
			defer running.leave()
			if s.Draining() {
				w.Header().Set("Connection", "close") // the client opens another connection for its next call
			}
			handler.ServeHTTP(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return calls }, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout,
		// DisableGeneralOptionsHandler lets the host check see requests OPTIONS *, too.
		WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, DisableGeneralOptionsHandler: true,
		ConnState: s.conns.state, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(clientListener{ln}) }()
	select {
	case err := <-failed:
		// The server accepts nothing more. In-flight calls must end before the graphs are closed.
		s.stop()
		err = errors.Join(err, s.shutdown(srv, cut))
		running.close()
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.announceStop() // before the first client is refused
	s.stop()
	s.metrics.Draining()
	s.log.Info("stopping; waiting for running calls to finish", "timeout", s.drainTimeout)
	if !s.socketOutlives {
		untilEmpty(ln)
	}
	_ = ln.Close()
	<-failed // http.Server.Serve has returned; clients that connect from here on wait for the next server, or are refused
	s.conns.linger(s.lingerTimeout)
	err := s.shutdown(srv, cut)
	running.close() // wait for the handlers, because the caller closes the graphs next
	return err
}

// shutdown ends all in-flight calls: it first waits for them, then cancels their contexts, then
// closes the connections.
func (s *Server) shutdown(srv *http.Server, cut context.CancelFunc) error {
	err := runWithin(s.drainTimeout, srv.Shutdown)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.log.Warn("some calls did not finish in time; the server cancels them", "timeout", s.drainTimeout)
	cut()
	if err = runWithin(s.cutTimeout, srv.Shutdown); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// The remaining calls wait for clients that send too slowly or do not read.
	return srv.Close()
}

// handlers tracks the handlers that run, because http.Server.Close does not wait for them. No
// handler may run when the graphs are closed.
type handlers struct {
	mu     sync.RWMutex // each running handler holds it for reading
	closed bool         // no handler may start any more
}

// enter reports whether a handler may start. If it may, the handler calls leave at its end.
func (a *handlers) enter() bool {
	a.mu.RLock()
	if a.closed {
		a.mu.RUnlock()
		return false
	}
	return true
}

// leave says that a running handler has ended.
func (a *handlers) leave() { a.mu.RUnlock() }

// close waits for the running handlers and lets no other one start.
func (a *handlers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}

// runWithin calls f with a context that ends after d.
func runWithin(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}

// Draining reports whether the server was asked to stop. A draining server still answers
// requests on its open connections.
func (s *Server) Draining() bool { return s.draining.Load() }
