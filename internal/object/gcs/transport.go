package gcs

import (
	"errors"
	"io"
	"net/http"

	"golang.org/x/oauth2"
)

// authorized is an http.RoundTripper that adds a token to each request.
type authorized struct {
	token func() (*oauth2.Token, error) // returns a valid token; may send a request
	next  *http.Transport
}

// tokenError reports that there is no token, so the request was not sent.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return "getting a token of Google Cloud: " + e.err.Error() }

// Unwrap returns the cause.
func (e *tokenError) Unwrap() error { return e.err }

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := a.token()
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, &tokenError{err}
	}
	r = r.Clone(r.Context()) // a RoundTripper must not change the request
	token.SetAuthHeader(r)
	return a.next.RoundTrip(r)
}

// CloseIdleConnections is called by the method of http.Client with this name.
func (a *authorized) CloseIdleConnections() { a.next.CloseIdleConnections() }

// exactReader fails if the reader r does not have exactly `left` more bytes.
type exactReader struct {
	r     io.Reader
	left  int64 // number of bytes that must follow
	wrong bool  // r has fewer or more bytes
}

// Read implements io.Reader. It makes sure that no more bytes follow before it returns the last ones, because
// afterwards the service would store the object.
func (e *exactReader) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && e.left > 0:
		e.wrong = true
		return 0, io.ErrUnexpectedEOF
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	case e.left == 0 && n > 0 && e.more():
		return 0, errors.New("the content has more bytes than were announced")
	}
	return n, nil
}

// more reports whether r has a byte that was not announced, and then sets e.wrong.
func (e *exactReader) more() bool {
	n, _ := io.ReadFull(e.r, make([]byte, 1))
	e.wrong = e.wrong || n > 0
	return n > 0
}
