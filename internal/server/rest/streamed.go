package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// streamedRoutes matches the requests whose route is [Route.Streamed].
var streamedRoutes = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range Routes() {
		if r.Streamed {
			mux.Handle(r.Method+" "+r.Path, http.NotFoundHandler())
		}
	}
	return mux
})

// IsStreamed reports whether the server uses the body of a request while the body arrives, and so holds only a
// small part of it in memory.
func IsStreamed(r *http.Request) bool {
	_, pattern := streamedRoutes().Handler(r)
	return pattern != ""
}

// streamBody replaces the limits of the server on the time for a whole request and for its answer. The body may arrive for as
// long as no pause exceeds Options.MaxPause, and the answer has its own time when it is ready.
func (x *exchange) streamBody() {
	control := http.NewResponseController(x.w)
	x.r = x.r.WithContext(x.ctx()) // a copy, because net/http looks at the type of the body of the request itself
	x.r.Body = &arrivingBody{ReadCloser: x.r.Body, control: control, pause: x.opts.MaxPause}
	x.w = &lateWriter{ResponseWriter: x.w, control: control}
}

// takeLong reads the body, and then lifts the limits of the server on the time for a request and for its answer. The answer has its own time
// when it is ready.
func (x *exchange) takeLong() error {
	body, err := io.ReadAll(x.r.Body)
	if err != nil {
		return unreadable(err)
	}
	control := http.NewResponseController(x.w)
	x.r = x.r.WithContext(x.ctx()) // a copy, as in streamBody
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	x.w = &lateWriter{ResponseWriter: x.w, control: control}
	for _, set := range []func(time.Time) error{control.SetReadDeadline, control.SetWriteDeadline} {
		if err := set(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}

// arrivingBody is a body whose time limit counts since its last byte.
type arrivingBody struct {
	io.ReadCloser
	control *http.ResponseController
	pause   time.Duration
}

// Read implements [io.Reader].
func (b *arrivingBody) Read(p []byte) (int, error) {
	if err := b.control.SetReadDeadline(time.Now().Add(b.pause)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		// net/http keeps reading, to find out whether the client is still there. A deadline would end
		// that read, and with it the context of the request.
		if late := b.control.SetReadDeadline(time.Time{}); late != nil && !errors.Is(late, http.ErrNotSupported) {
			return n, late
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &pauseError{b.pause}
	}
	return n, err
}

// pauseError is the error of a body that stopped to arrive.
type pauseError struct{ pause time.Duration }

func (e *pauseError) Error() string {
	return fmt.Sprintf("no byte of the request body arrived for %v", e.pause)
}

// Timeout implements [net.Error], by which the library of the uploads knows a pause.
func (*pauseError) Timeout() bool { return true }

// Temporary implements [net.Error].
func (*pauseError) Temporary() bool { return true }

// lateWriter is the answer to a request whose body may have taken long.
type lateWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Unwrap returns the writer below, for [http.ResponseController].
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *lateWriter) WriteHeader(status int) {
	_ = w.control.SetWriteDeadline(time.Now().Add(maxStall)) // if it fails, so will the write
	w.ResponseWriter.WriteHeader(status)
}

// unreadableStream returns the error for a streamed body that could not be read to its end.
func unreadableStream(err error) error {
	var pause *pauseError
	if errors.As(err, &pause) {
		return &httpError{envelope.New(wireerror.OfRequest, client.CodeBadRequest, pause.Error()+"; send the request again")}
	}
	return unreadable(err)
}
