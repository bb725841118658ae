package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// exchange is one request and the state that its handler needs to answer it.
type exchange struct {
	*server
	route *Route             // the route of the request
	g     *servedgraph.Graph // nil for routes that are not on a graph
	w     http.ResponseWriter
	r     *http.Request
	query url.Values // valid once check has returned nil, as is message

	message string // of the commit that the request makes
}

// ctx returns the context of the request.
func (x *exchange) ctx() context.Context { return x.r.Context() }

// actor returns the actor of the request.
func (x *exchange) actor() *access.Actor { return access.ActorFrom(x.r.Context()) }

// stringIntegers reports whether the client wants all 64-bit integers of the answer as strings.
func (x *exchange) stringIntegers() bool {
	return x.route.Values && len(x.r.Header[headerIntegers]) > 0 // check has refused other values
}

// do runs a call under the name of the route's operation.
func (x *exchange) do(call tool.Call, enc encoding.Options) (*encoding.Answer, error) {
	enc.StringIntegers = x.stringIntegers()
	return x.g.Do(x.ctx(), x.actor(), x.route.Operation, call, enc)
}

// answer runs a call and sends its answer.
func (x *exchange) answer(call tool.Call, enc encoding.Options) error {
	a, err := x.do(call, enc)
	if err != nil {
		return err
	}
	x.send(a)
	return nil
}

// send sends an answer and releases it. The entity tag of a read is the commit that was read.
func (x *exchange) send(a *encoding.Answer) {
	defer a.Release()
	if x.route.Tagged && a.Commit != "" && (a.Read || !x.route.Writes) {
		x.w.Header()["Etag"] = []string{entityTag(a.Commit, a.Rights)}
	}
	send(x.w, http.StatusOK, a.JSON, a.Head...)
}

// reply sends v as JSON.
func (x *exchange) reply(v any) error {
	b, err := encoding.JSON(v)
	if err != nil {
		return err
	}
	send(x.w, http.StatusOK, b)
	return nil
}

// uri returns the URI of the graph in answers.
func (x *exchange) uri() string { return "omnigraph://" + x.g.ID() }

// branch returns the name of a branch in the query string of the URL; it may be empty.
func (x *exchange) branch() tool.BranchName { return tool.BranchName(x.query.Get("branch")) }

// snapshotted returns the commit to read that the query string of the URL names instead of a branch, or "".
func (x *exchange) snapshotted() string { return x.query.Get("snapshot") }

// number returns a parameter of kind Number from the query string. If the parameter is absent,
// number returns the default in its argument `otherwise`. The method check has already validated
// the parameter.
func (x *exchange) number(name string, otherwise int) int {
	n, err := strconv.Atoi(x.query.Get(name))
	if err != nil {
		return otherwise
	}
	return n
}

// runOptions returns the options of a write that are given in the header of the request.
func (x *exchange) runOptions() queryrun.Options {
	return queryrun.Options{IdempotencyKey: first(x.r.Header[headerIdempotency]), IfCommit: x.ifCommit(), Message: x.message}
}

// ifCommit returns the commit that must be the head of the branch to write to, or "".
func (x *exchange) ifCommit() string {
	commit, _, _ := strings.Cut(strings.Trim(first(x.r.Header[headerIfCommit]), `"`), "~")
	return commit
}

// first returns the first value of a header, or "".
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// clientHas reports whether If-None-Match says that the client has the answer for a commit, and for rights with a digest, already.
func (x *exchange) clientHas(commit, rights string) bool {
	for _, line := range x.r.Header.Values(headerIfNone) {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == entityTag(commit, rights) || tag == "*" {
				return true
			}
		}
	}
	return false
}

// entityTag returns the ETag for a commit. If the caller may see a part of it, the tag also has the digest of the rights.
func entityTag(commit, rights string) string {
	if rights != "" {
		h := sha256.Sum256([]byte(rights))
		commit += "~" + hex.EncodeToString(h[:8])
	}
	return `"` + commit + `"`
}

// check validates the request against the parameters of its route. It refuses unknown
// parameters: if the server ignored one, it could ignore a branch or a condition that the
// client meant.
func (x *exchange) check() error {
	var err error
	if x.r.URL.RawQuery == "" {
		x.query = nil
	} else if x.query, err = url.ParseQuery(x.r.URL.RawQuery); err != nil {
		return x.bad("the query part of the url is malformed: " + err.Error() + "; escape & ; % and = in values")
	}
	for _, name := range []string{headerIfCommit, headerIdempotency} {
		if values := x.r.Header[name]; len(values) > 0 && strings.Trim(values[0], `" `) == "" && x.route.takes(name) {
			return x.bad("header " + name + ": found an empty text, expected a value; to write without this condition, leave the header out")
		}
	}
	if x.route.takes(headerMessage) {
		if x.message, err = url.PathUnescape(first(x.r.Header[headerMessage])); err != nil {
			return x.bad("header " + headerMessage + ": " + err.Error() + "; write UTF-8 in percent-encoding, and % as %25")
		}
		if err := engine.CheckMessage(x.message); err != nil {
			return err
		}
	}
	for _, name := range []string{headerIfCommit, headerMessage} {
		if len(x.r.Header[name]) > 0 && !x.route.takes(name) {
			return x.bad("header " + name + ": does not apply to this route; leave it out")
		}
	}
	here := x.here() != nil
	var known []string
	for i := range x.route.Params {
		p := &x.route.Params[i]
		switch p.In {
		case Query:
			if x.query != nil {
				known = append(known, p.Name)
			}
			err = p.check(x.query[p.Name], here)
		case Header:
			err = p.check(x.r.Header[p.key], here)
		case Path:
		}
		if err != nil {
			return err
		}
	}
	if x.query == nil {
		return nil
	}
	if x.route.Action == "" {
		return nil // a probe, which may add any parameters
	}
	for _, name := range slices.Sorted(maps.Keys(x.query)) {
		if !slices.Contains(known, name) {
			help := "known are " + strings.Join(known, ", ")
			if len(known) == 0 {
				help = "this route has no query parameters; a POST has its arguments in the body"
			}
			return &tool.ArgumentError{Path: short(name), Detail: "unknown query parameter", Help: help}
		}
	}
	if x.query.Has("branch") && x.query.Has("snapshot") && !tool.IsInstant(x.snapshotted()) {
		return &tool.ArgumentError{Path: "snapshot", Detail: "found together with branch, expected only one of them", Help: "a snapshot names a commit, so it needs no branch; an instant may have one"}
	}
	return nil
}

// check validates the values of a parameter. If the client is in this process, texts have no limit.
func (p *Param) check(values []string, here bool) error {
	if len(values) == 0 && !p.Required {
		return nil
	}
	fault := func(format string, args ...any) error {
		place := p.Name
		if p.In == Header {
			place = "header " + p.Name
		}
		return &tool.ArgumentError{Path: place, Detail: fmt.Sprintf(format, args...)}
	}
	if p.Name == headerIfNone { // a list, which may come in several header lines
		return nil
	}
	if p.Many {
		one := *p
		one.Many = false
		for i := range values {
			if err := one.check(values[i:i+1], here); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(values) > 1:
		return fault("found several times, expected once")
	case p.Required && (len(values) == 0 || values[0] == ""):
		return fault("missing, expected %s", p.wanted())
	case p.Enum != nil && !slices.Contains(p.Enum, values[0]):
		return fault("found %q, expected %s", short(values[0]), p.wanted())
	case p.Max > 0 && len(values[0]) > p.Max && !here:
		return fault("found a text of %d bytes, expected at most %d", len(values[0]), p.Max)
	case p.In == Header && strings.Trim(values[0], `"`) == "":
		// An empty condition would count as none.
		return fault("found an empty text, expected %s; otherwise leave the header out", p.wanted())
	case p.Kind == Number:
		if n, err := strconv.ParseInt(values[0], 10, 32); err != nil || n < p.Min {
			return fault("found %q, expected %s", short(values[0]), p.wanted())
		}
	}
	return nil
}

// wanted returns a phrase for the values that the parameter takes.
func (p *Param) wanted() string {
	switch {
	case p.Enum != nil:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Kind == Number:
		return fmt.Sprintf("a whole number, %d or more", p.Min)
	}
	return "a text"
}

// short returns the first 60 bytes of a text that a client sent.
func short(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// bad returns an error for a request that is malformed as HTTP.
func (x *exchange) bad(message string) error {
	return &httpError{envelope.New(wireerror.OfRequest, client.CodeBadRequest, message)}
}

// limit sets the deadline according to the timeout header of the request.
func (x *exchange) limit() context.CancelFunc {
	values := x.r.Header[headerTimeout]
	if len(values) == 0 {
		return func() {}
	}
	ms, err := strconv.ParseInt(values[0], 10, 32)
	if err != nil { // only on a route without the parameter: the method check refuses malformed values
		return func() {}
	}
	ctx, cancel := context.WithTimeout(x.ctx(), time.Duration(ms)*time.Millisecond)
	x.r = x.r.WithContext(ctx)
	return cancel
}
