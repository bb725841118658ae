package gcs

import (
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
