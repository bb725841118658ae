package mcp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

const (
	// maxListenBody is the size limit in bytes of the body of a request that opens a stream.
	maxListenBody = 64 << 10

	// maxStall is how long a client may read nothing before its stream is closed.
	maxStall = 30 * time.Second
)

// IsSubscription reports whether a request opens a stream of notifications. Such a stream lasts for hours,
// so it must not take one of the few slots for requests. The handler refuses a request whose body calls
// another method than its headers say.
func IsSubscription(r *http.Request) bool {
	method, version := r.Header[methodHeader], r.Header[versionHeader]
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/mcp") &&
		len(method) == 1 && method[0] == listenMethod && len(version) == 1 && version[0] >= statelessVersion
}

// eventStream sends messages as server-sent events. It sends the header of the answer with the first one.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	started bool
}

// listen answers subscriptions/listen.
func (h *handler) listen(w http.ResponseWriter, r *http.Request, m *message) {
	if !accepts(r.Header["Accept"], "text", "event-stream") {
		fault := badRequest("the Accept header leaves out text/event-stream, which the answer is; add text/event-stream to it")
		fault.id = m.id
		fault.write(w)
		return
	}
	s := &eventStream{w: w, control: http.NewResponseController(w)}
	// The limit on the time for reading a request must not end the stream.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		badRequest("the connection was closed").write(w)
		return
	}
	if fault := h.surface.listen(r.Context(), h.stopping, m, s); fault != nil {
		write(w, statusOf(statelessVersion, fault), appendError(nil, m.id, fault))
	}
}

// send implements [notifier].
func (s *eventStream) send(message []byte) error {
	return s.write("event: message\ndata: " + string(message) + "\n\n")
}

// beat implements [notifier].
func (s *eventStream) beat() error { return s.write(":\n\n") }

// write sends a text at once. Each text has its own time limit, so the stream may last.
func (s *eventStream) write(text string) error {
	if !s.started {
		s.started = true
		h := s.w.Header()
		h["Content-Type"], h["X-Content-Type-Options"], h["Cache-Control"] = []string{"text/event-stream"}, noSniff, noStore
		h.Set("X-Accel-Buffering", "no") // nginx would hold events back
		s.w.WriteHeader(http.StatusOK)
	}
	if err := s.control.SetWriteDeadline(time.Now().Add(maxStall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// lineStream sends messages as lines over stdio.
type lineStream func(message []byte)

// send implements [notifier]. The session notices itself when its client has gone away.
func (s lineStream) send(message []byte) error { s(message); return nil }

// beat implements [notifier]. A pipe needs no sign of life.
func (s lineStream) beat() error { return nil }

// never is the default of [Options.Stopping].
var never = context.Background()
