// Package requestinfo carries information about one HTTP request between the layers of a server.
// The outer layer records the request's id. The inner layers record what the request calls on a
// graph.
package requestinfo

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Header is the name of the header that carries a request's id, in the request and in the
// answer.
const Header = "X-Request-Id"

// maxID is the maximum length in bytes of an id that a client chooses.
const maxID = 128

// Info is the information about one request. Only the goroutine that serves the request
// writes it.
type Info struct {
	ID    string // the request id
	Route string // the pattern that matched, such as /graphs/{id}/query; empty if none did
	Actor string // the actor that sent the request; empty until it is known

	Agents string // the agents that act for the actor, separated by blanks, the current one first

	// Calls is the number of graph calls that the request made. The fields below describe
	// the last of them.
	Calls       int
	Graph, Tool string // id of the graph, and name of the tool
	Branch      string // main if the call names none; empty for a call that concerns no branch
	Commit      string // the commit that was read, or the head after a write

	parent     context.Context // parent of the context that carries the record
	key, value any             // see Attach; nil if nothing is attached
}

// key is the context key of the request info.
type key struct{}

// With returns a context that carries the record. One record must not be put into two
// contexts.
func With(ctx context.Context, r *Info) context.Context {
	r.parent = ctx
	return (*carrier)(r)
}

// carrier is an Info in its role as a context. The conversion saves one allocation per request.
type carrier Info

func (c *carrier) Deadline() (time.Time, bool) { return c.parent.Deadline() }
func (c *carrier) Done() <-chan struct{}       { return c.parent.Done() }
func (c *carrier) Err() error                  { return c.parent.Err() }

func (c *carrier) Value(k any) any {
	switch {
	case k == (key{}):
		return (*Info)(c)
	case c.key != nil && k == c.key:
		return c.value
	}
	return c.parent.Value(k)
}

// Attach makes a context that With returned carry one more value. A further context with the value would
// take memory and lookups in each request. Attach reports false, and does nothing, if ctx is another
// context or if a value is attached to it already.
func Attach(ctx context.Context, key, value any) bool {
	c, ok := ctx.(*carrier)
	if !ok || c.key != nil {
		return false
	}
	c.key, c.value = key, value
	return true
}

// From returns the record that the context carries, or nil.
func From(ctx context.Context) *Info {
	r, _ := ctx.Value(key{}).(*Info)
	return r
}

// ID returns the id that the client chose if it has 1 to 128 characters, all of them
// letters, digits or one of - _ . : / + = @. Otherwise it returns a new id. Ids appear in
// answers, logs and traces, so ID also replaces an id that contains the client's token or
// is a part of it.
func ID(h http.Header) string {
	if id := h.Get(Header); wellFormed(id) && !revealsToken(id, h["Authorization"]) {
		return id
	}
	return NewID()
}

// minLeak is a length in bytes. An id that contains a token, or is contained in one, is replaced if
// the contained text is at least this long. A shorter match may be chance.
const minLeak = 8

// revealsToken reports whether an id contains a token of the credentials, or is a part of one.
func revealsToken(id string, credentials []string) bool {
	for _, c := range credentials {
		_, token, _ := strings.Cut(c, " ")
		token = strings.TrimLeft(token, " ")
		if len(id) >= minLeak && strings.Contains(token, id) || len(token) >= minLeak && strings.Contains(id, token) {
			return true
		}
	}
	return false
}

// digits are the digits of base32 in lower case. They leave out the letters i, l, o and u,
// which are easily misread.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns a new id: 26 characters made from 128 random bits. It is not a secret:
// a reader of one id may be able to guess others.
func NewID() string {
	var b [26]byte
	for i := 0; i < len(b); i += 13 {
		bits := rand.Uint64()
		for k := range 13 {
			b[i+k] = digits[bits&31]
			bits >>= 5
		}
	}
	return string(b[:])
}

// wellFormed reports whether a client's request id may be used.
func wellFormed(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=', c == '@':
		default:
			return false
		}
	}
	return true
}
