// Package auth authenticates HTTP requests. It resolves each request to an actor once, before the
// request reaches a transport.
package auth

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/logsample"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Verifier resolves a bearer token to its actor. Implementations are safe for concurrent use.
type Verifier interface {
	// Verify returns the token's actor, in memory of its own. If the token is not of a kind that this verifier handles,
	// it returns a nil actor and a nil error. If the token is of that kind but is not valid, the
	// error is a *Rejected. Any other error means that the token could not be checked. No error
	// repeats any part of the token.
	Verify(ctx context.Context, token string) (*access.Actor, error)
}

// Anonymous is the actor of every request to a server that runs unauthenticated.
const Anonymous = "anonymous"

// challenge is the value of WWW-Authenticate if the request had no token. invalid is its value if
// the token was unknown or rejected (RFC 6750, section 3).
const (
	challenge = `Bearer realm="omnigraph"`
	invalid   = challenge + `, error="invalid_token"`
)

// Authenticator authenticates requests before they reach a transport.
type Authenticator struct {
	Log       *slog.Logger // receives rejections and faults
	Verifiers []Verifier   // asked in order, until one recognizes the token
	Metadata  *Metadata    // nil if the server publishes no metadata

	Refused func(*http.Request) // learns of each request without a valid token; may be nil

	Now func() time.Time // clock for rate-limiting log lines; nil means clock.Now

	sampler logsample.Sampler // limits log lines, because clients without a token can cause them
}

// Require puts authentication in front of the handler `next`. The first verifier that recognizes
// the token determines the actor. The context of the request then carries the actor to `next`. If
// the token is missing, unknown or rejected, the answer is 401 with WWW-Authenticate, which points
// to the metadata if there is any. If a verifier fails, the answer is 503. Tokens appear neither in
// answers nor in the log, and `next` does not see them.
func (g *Authenticator) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, why := bearer(r.Header)
		if why != "" {
			header := challenge
			if r.Header.Get("Authorization") != "" {
				header = invalid
			}
			g.refuse(w, r, header, why)
			return
		}
		for _, v := range g.Verifiers {
			actor, err := v.Verify(r.Context(), token)
			if err != nil {
				g.fail(w, r, err)
				return
			}
			if actor != nil {
				if actor.Scopes != nil && g.Metadata != nil {
					actor.Scopes.Challenge = g.Metadata.insufficient(r)
				}
				serveAs(next, w, r, actor)
				return
			}
		}
		g.refuse(w, r, invalid, "this server does not know the bearer token")
	})
}

// Open passes every request to the handler `next` without authentication. The actor is always
// Anonymous, even if the request carries a token.
func Open(next http.Handler) http.Handler {
	actor := &access.Actor{ID: Anonymous, Source: "none"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveAs(next, w, r, actor) })
}

// serveAs passes the request to the handler `next`, with the actor and without the token.
func serveAs(next http.Handler, w http.ResponseWriter, r *http.Request, actor *access.Actor) {
	if ctx := access.WithActor(r.Context(), actor); ctx != r.Context() {
		r = r.WithContext(ctx)
	}
	if token, ok := r.Header["Authorization"]; ok {
		// A copy of the header without the token would take longer than the rest of the authentication.
		delete(r.Header, "Authorization")
		defer func() { r.Header["Authorization"] = token }()
	}
	next.ServeHTTP(w, r)
}

// fail answers a request if its token was rejected or could not be checked.
func (g *Authenticator) fail(w http.ResponseWriter, r *http.Request, err error) {
	var rejected *Rejected
	if errors.As(err, &rejected) {
		g.refuse(w, r, invalid, rejected.Error())
		return
	}
	var unreachable *Unreachable
	if errors.As(err, &unreachable) {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(unreachable.Retry.Seconds())))))
	}
	envelope.HangUp(w, r)
	g.logSampled(r, slog.LevelError, "a token could not be verified", "error", err.Error())
	envelope.Write(w, envelope.New(wireerror.Unavailable, client.CodeInternal, "authentication is not available; try again later"))
}

// refuse answers 401 with the reason. `header` is the value of WWW-Authenticate.
func (g *Authenticator) refuse(w http.ResponseWriter, r *http.Request, header, why string) {
	envelope.HangUp(w, r)
	g.logSampled(r, slog.LevelInfo, "authentication refused", "reason", why)
	if g.Refused != nil {
		g.Refused(r)
	}
	if g.Metadata != nil {
		header += g.Metadata.challenge(r)
	}
	w.Header().Set("WWW-Authenticate", header)
	envelope.Write(w, envelope.New(wireerror.NotIdentified, client.CodeUnauthorized, why))
}

// logSampled logs a message about a request. If a line for the same reason was logged a moment
// ago, logSampled only counts the message, and the next line reports the count.
func (g *Authenticator) logSampled(r *http.Request, level slog.Level, message, key, why string) {
	now := clock.Now
	if g.Now != nil {
		now = g.Now
	}
	held, ok := g.sampler.Allow(message+why, now())
	if !ok {
		return
	}
	attrs := []slog.Attr{slog.String(key, why), slog.String("remote", r.RemoteAddr)}
	if held > 0 {
		attrs = append(attrs, slog.Int("others", held))
	}
	g.Log.LogAttrs(r.Context(), level, message, attrs...)
}

// bearer returns the token of the Authorization header, or the reason why there is none.
func bearer(h http.Header) (token, why string) {
	const wanted = "send the header Authorization: Bearer <token>"
	values := h.Values("Authorization")
	switch len(values) {
	case 0:
		return "", "no bearer token was sent; " + wanted
	case 1:
	default:
		return "", "several Authorization headers were sent, expected one; " + wanted
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", "the Authorization header does not have the scheme Bearer; " + wanted
	}
	token = strings.TrimLeft(rest, " ")
	if token == "" || len(token) > maxJWT || !isB64Token(token) {
		return "", "the Authorization header does not contain a well-formed bearer token; " + wanted
	}
	return token, ""
}
