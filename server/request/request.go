// Package request is what the layers of a server tell each other of one HTTP request
// beside the answer: its id goes inward, and what was called comes out.
package request

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Header is the header that a request's id comes and goes in.
const Header = "X-Request-Id"

// maxID bounds the id that a client may choose, in bytes.
const maxID = 128

// Record is one request. Only the goroutine that serves the request writes to it.
type Record struct {
	ID    string
	Route string // the pattern that matched, such as /graphs/{id}/query; empty for none
	Actor string // who it comes from; empty while nobody is known

	// Calls are the calls of graphs that it was about, and the others what the last of
	// them was.
	Calls       int
	Graph, Tool string
	Branch      string // main when the call names none; empty for a call that is about no branch
	Commit      string // the one that was read, or the head after a write

	parent context.Context // of the one that carries it
}

type key struct{}

// With returns a context that carries the record. A record is carried by one context.
func With(ctx context.Context, r *Record) context.Context {
	r.parent = ctx
	return (*carrier)(r)
}

// carrier is a record as the context that carries it: one for each request would be one
// more thing to allocate.
type carrier Record

func (c *carrier) Deadline() (time.Time, bool) { return c.parent.Deadline() }
func (c *carrier) Done() <-chan struct{}       { return c.parent.Done() }
func (c *carrier) Err() error                  { return c.parent.Err() }

func (c *carrier) Value(k any) any {
	if k == (key{}) {
		return (*Record)(c)
	}
	return c.parent.Value(k)
}

// From returns the record of the request that a context is of, or nil outside of one.
func From(ctx context.Context) *Record {
	r, _ := ctx.Value(key{}).(*Record)
	return r
}

// ID returns the id that the client has chosen, if it is 1 to 128 of the letters, the
// digits and - _ . : / + = @, and else one that no other request has. The client's token,
// or a piece of it, is no id: ids are in answers, logs and traces.
func ID(h http.Header) string {
	if id := h.Get(Header); wellFormed(id) && !tells(id, h["Authorization"]) {
		return id
	}
	return NewID()
}

// piece is how much of a token an id may not be, in bytes; less is chance.
const piece = 8

func tells(id string, credentials []string) bool {
	for _, c := range credentials {
		_, token, _ := strings.Cut(c, " ")
		token = strings.TrimLeft(token, " ")
		if len(id) >= piece && strings.Contains(token, id) || len(token) >= piece && strings.Contains(id, token) {
			return true
		}
	}
	return false
}

// digits are those of base32 in lower case, without letters that look like digits.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns an id of 26 characters, of 128 random bits. It is no secret: whoever
// sees one may guess others.
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
