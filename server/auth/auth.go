// Package auth resolves a request to the actor it comes from, once, in front of every
// transport.
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

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/sample"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// Verifier says whose a bearer token is. Implementations are safe for concurrent use.
type Verifier interface {
	// Verify returns the token's actor. A nil actor without an error means that the
	// token is none of this verifier's; a *Rejected, that it is and does not hold; another
	// error, that it could not be looked into. None repeats anything of the token.
	Verify(ctx context.Context, token string) (*service.Actor, error)
}

// Anonymous is the actor of every request to a server that runs unauthenticated.
const Anonymous = "anonymous"

// challenge is what WWW-Authenticate says when no token was presented, and invalid
// what it says of one that is nobody's (RFC 6750, section 3).
const (
	challenge = `Bearer realm="omnigraph"`
	invalid   = challenge + `, error="invalid_token"`
)

// Gate is the authentication in front of every transport.
type Gate struct {
	Log       *slog.Logger
	Verifiers []Verifier // the first that knows a token decides
	Metadata  *Metadata  // nil for none

	Now func() time.Time // paces the lines of the log; nil for clock.Now

	lines sample.Lines // of the log: whoever has no token can cause them
}

// Require puts authentication in front of next: the first verifier that knows the
// token says who the actor is, and next finds it in the context. A missing, unknown or
// rejected token answers 401 with WWW-Authenticate, which names the metadata if there
// is any; a verifier that fails answers 503. Tokens appear neither in answers nor in
// the log, and next does not see them.
func (g *Gate) Require(next http.Handler) http.Handler {
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
				pass(next, w, r, actor)
				return
			}
		}
		g.refuse(w, r, invalid, "the bearer token is not known to this server")
	})
}

// Open puts no authentication in front of next: every request is from Anonymous,
// whatever it presents.
func Open(next http.Handler) http.Handler {
	actor := &service.Actor{ID: Anonymous, Source: "none"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { pass(next, w, r, actor) })
}

// pass hands the request on with its actor and without its token.
func pass(next http.Handler, w http.ResponseWriter, r *http.Request, actor *service.Actor) {
	r = r.WithContext(service.WithActor(r.Context(), actor))
	if _, ok := r.Header["Authorization"]; ok {
		r.Header = r.Header.Clone()
		r.Header.Del("Authorization")
	}
	next.ServeHTTP(w, r)
}

// fail answers a request whose token did not hold, or could not be looked into.
func (g *Gate) fail(w http.ResponseWriter, r *http.Request, err error) {
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
	g.line(r, slog.LevelError, "a token could not be verified", "error", err.Error())
	envelope.Write(w, envelope.New(http.StatusServiceUnavailable, service.Internal, "authentication is not available; try again later"))
}

func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, header, why string) {
	envelope.HangUp(w, r)
	g.line(r, slog.LevelInfo, "authentication refused", "reason", why)
	if g.Metadata != nil {
		header += `, resource_metadata="` + g.Metadata.url(r) + `"`
	}
	w.Header().Set("WWW-Authenticate", header)
	envelope.Write(w, envelope.New(http.StatusUnauthorized, service.Unauthorized, why))
}

// line writes a line of log about a request, unless there was one for the same reason
// a moment ago; then it is counted in the next one.
func (g *Gate) line(r *http.Request, level slog.Level, message, key, why string) {
	now := clock.Now
	if g.Now != nil {
		now = g.Now
	}
	held, ok := g.lines.Pass(message+why, now())
	if !ok {
		return
	}
	attrs := []slog.Attr{slog.String(key, why), slog.String("remote", r.RemoteAddr)}
	if held > 0 {
		attrs = append(attrs, slog.Int("others", held))
	}
	g.Log.LogAttrs(r.Context(), level, message, attrs...)
}

// bearer takes the token out of the Authorization header, or says why there is none.
func bearer(h http.Header) (token, why string) {
	const wanted = "send the header Authorization: Bearer <token>"
	values := h.Values("Authorization")
	switch len(values) {
	case 0:
		return "", "no bearer token was sent; " + wanted
	case 1:
	default:
		return "", "several Authorization headers were sent, wanted one; " + wanted
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", "the Authorization header is not of the scheme Bearer; " + wanted
	}
	token = strings.TrimLeft(rest, " ")
	if token == "" || len(token) > maxJWT || !isB64Token(token) {
		return "", "the Authorization header holds no well-formed bearer token; " + wanted
	}
	return token, ""
}
