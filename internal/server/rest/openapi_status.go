package rest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/swaggest/openapi-go/openapi31"
)

// header describes a header of an answer.
type header struct {
	name, description string
	kind              Kind
	always            bool // whether every answer with the status has it
}

// successes describe the statuses that are not errors.
var successes = map[int]string{
	http.StatusOK:             "Done.",
	http.StatusPartialContent: "The range that was asked for.",
	http.StatusNotModified:    "The answer that the client has is still the answer.",
}

// faults describe the error statuses and the headers that come with them.
var faults = map[int]struct {
	description string
	headers     []header
}{
	http.StatusBadRequest: {"The request has a fault: its JSON, a member, a parameter, a value that a constraint of the schema refuses, or the text of a query, whose faults are in diagnostics.", nil},
	http.StatusUnauthorized: {"No bearer token was sent, or one that is nobody's.", []header{
		{name: "WWW-Authenticate", description: "How to authenticate (RFC 6750).", kind: Text, always: true},
	}},
	http.StatusForbidden:        {"The policy does not allow it to the caller, or the server is not reached by this host or from this origin.", nil},
	http.StatusNotFound:         {"There is no such graph, branch, commit, entity or stored query, as far as the caller may know.", nil},
	http.StatusMethodNotAllowed: {"The path has no such method.", []header{{name: "Allow", description: "The methods that it has.", kind: Text, always: true}}},
	http.StatusConflict:         {"It conflicts with what is there: a key, a branch, a merge, the schema.", nil},
	http.StatusGone:             {"A cleanup has reclaimed what the answer needs.", nil},
	http.StatusPreconditionFailed: {
		"The branch is not at the commit that the request names. The envelope has no code.", nil},
	http.StatusRequestEntityTooLarge: {"The body, or the answer, is larger than it may be.", nil},
	http.StatusUnsupportedMediaType:  {"The body is of another media type, or it is compressed.", nil},
	http.StatusRequestedRangeNotSatisfiable: {"The range is outside of the value.", []header{
		{name: "Content-Range", description: "How long the value is.", kind: Text, always: true},
	}},
	http.StatusTooManyRequests: {"Too many requests of the caller, or of all, are under way.", []header{
		{name: "Retry-After", description: "How many seconds to wait.", kind: Number, always: true},
	}},
	http.StatusInternalServerError: {"A fault of the server; its id finds it in the log. After a write: whether it was made is unknown when the text says so.", nil},
	http.StatusServiceUnavailable: {"The graph is not available, others take the memory of answers and queries, or the request took longer than it may.", []header{
		{name: "Retry-After", description: "How many seconds to wait.", kind: Number},
	}},
}

// componentOf returns the component name of an error status. It panics if the status has no row
// in faults.
func componentOf(status int) string {
	if _, ok := faults[status]; !ok {
		panic(fmt.Sprintf("rest: status %d has no row in faults", status))
	}
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

// headers returns the headers of a successful answer.
func (d *document) headers(r *Route, status int) map[string]openapi31.HeaderOrReference {
	all := map[string]openapi31.HeaderOrReference{}
	add := func(h header) { all[h.name] = h.or() }
	if r.Tagged {
		_, several := r.Answer.(OneOf) // answers of writes have no tag
		add(header{name: "ETag", description: "The commit that was read, in quotes.", kind: Text, always: !several})
	}
	if status == http.StatusPartialContent {
		add(header{name: "Content-Range", description: "Which bytes of how many.", kind: Text})
	}
	if r.Successor != "" {
		add(header{name: "Deprecation", description: "That the route is deprecated.", kind: Text, always: true})
		add(header{name: "Link", description: "The route that takes its place, with rel=\"successor-version\".", kind: Text, always: true})
	}
	return all
}

func (h *header) or() openapi31.HeaderOrReference {
	out := &openapi31.Header{Description: &h.description, Schema: map[string]any{"type": string(h.kind)}}
	if h.always {
		out.Required = &h.always
	}
	return openapi31.HeaderOrReference{Header: out}
}
