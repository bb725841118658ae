// Package inprocess connects an HTTP client with a handler in the same process, without a network. A handler gets
// the request as it is, and can return an error to the caller of the client as it is, instead of describing it in an
// answer.
package inprocess

import (
	"context"
	"io"
	"net/http"
	"strconv"
)

// Request is what a request in this process has in addition to a request over a network.
type Request struct {
	// File is the name of the file from which the text in the request comes; see [WithFile].
	File string

	err error // why the request failed; nil if it did not
}

// Fail ends the request with an error. The handler must return after it. If it has already answered, the
// client gets the error when it reads the body of the answer.
func (r *Request) Fail(err error) { r.err = err }

// requestKey and fileKey are the keys of values in contexts.
type (
	requestKey struct{}
	fileKey    struct{}
)

// From returns what a request has because it is in this process. It returns nil for the context of a request over a
// network.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// WithFile names the file from which the text in a request comes. Messages about the text use the name.
func WithFile(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, fileKey{}, name)
}

// Error is an error that the handler passed to [Request.Fail].
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error of the handler.
func (e *Error) Unwrap() error { return e.Err }

// Transport is an [http.RoundTripper] that calls a handler.
type Transport struct{ Handler http.Handler }

// RoundTrip calls the handler in a goroutine. It returns when the handler has answered or has ended, even if the
// context of the request ends earlier. The body of the answer must be closed; closing it waits for the
// handler to end. An error is an *[Error].
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	file, _ := request.Context().Value(fileKey{}).(string)
	here := &Request{File: file}
	r := request.WithContext(context.WithValue(request.Context(), requestKey{}, here))
	if r.Body == nil {
		r.Body = http.NoBody
	}
	from, to := io.Pipe()
	w := &writer{header: http.Header{}, body: to, answered: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.Handler.ServeHTTP(w, r)
		_ = r.Body.Close() // it was read; an error has no meaning here
		if here.err == nil {
			w.WriteHeader(http.StatusOK) // unless the handler did
			to.Close()
		} else {
			to.CloseWithError(&Error{here.err})
		}
	}()
	select {
	case <-w.answered:
	case <-ended:
		if w.status == 0 {
			return nil, &Error{here.err}
		}
	}
	length, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{
		StatusCode: w.status, Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: w.header, Body: &body{from, ended}, ContentLength: length, Request: request,
	}, nil
}

// writer is the [http.ResponseWriter] of one request.
type writer struct {
	header   http.Header
	body     *io.PipeWriter
	status   int           // set before answered is closed; 0 until then
	answered chan struct{} // closed when the status and the header are complete
}

// Header implements [http.ResponseWriter].
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter]. Only the first call has an effect.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		close(w.answered)
	}
}

// Write implements [http.ResponseWriter]. It returns when the client has read p, or has closed the body.
func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// body is the body of an answer.
type body struct {
	*io.PipeReader
	ended <-chan struct{} // closed when the handler has ended
}

// Close implements [io.Closer].
func (b *body) Close() error {
	err := b.PipeReader.Close()
	<-b.ended
	return err
}
