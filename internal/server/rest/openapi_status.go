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
	kind              Kind // type of the value
	always            bool // whether every answer with the status has the header
}

// successes describe the statuses that are not errors.
var successes = map[int]string{
	http.StatusOK:             "Done.",
	http.StatusCreated:        "The upload is open.",
	http.StatusNoContent:      "Done.",
	http.StatusPartialContent: "The requested range of bytes.",
	http.StatusNotModified:    "The answer that the client already has is still current.",
}

// faults describe the error statuses and the headers that come with them.
var faults = map[int]struct {
	description string
	headers     []header
}{
	http.StatusBadRequest: {"The request has an error in its JSON, a member, a parameter, a value that breaks a constraint of the schema, or the text of a query. The errors of a query text are in diagnostics.", nil},
	http.StatusUnauthorized: {"The request has no bearer token, or a token that the server does not know.", []header{
		{name: "WWW-Authenticate", description: "How to authenticate (RFC 6750).", kind: Text, always: true},
	}},
	http.StatusForbidden:        {"The policy does not allow the caller to do this, or the server does not accept requests for this host or from this origin.", nil},
	http.StatusNotFound:         {"The graph, branch, commit, entity or stored query does not exist, or the caller may not know that it exists.", nil},
	http.StatusMethodNotAllowed: {"The path does not have this method.", []header{{name: "Allow", description: "The methods of the path.", kind: Text, always: true}}},
	http.StatusConflict:         {"The request conflicts with the graph: with a key, a branch, a merge or the schema.", nil},
	http.StatusGone:             {"A cleanup removed the data that the answer needs.", nil},
	http.StatusPreconditionFailed: {
		"The branch is not at the commit that the request names. The error has no code.", nil},
	http.StatusRequestEntityTooLarge: {"The body or the answer is larger than its limit.", nil},
	http.StatusUnsupportedMediaType:  {"The body has the wrong media type, or it is compressed.", nil},
	http.StatusRequestedRangeNotSatisfiable: {"The requested range is outside the value.", []header{
		{name: "Content-Range", description: "The length of the value.", kind: Text, always: true},
	}},
	http.StatusTooManyRequests: {"The caller, or all callers together, have too many requests in flight.", []header{
		{name: "Retry-After", description: "How many seconds to wait.", kind: Number, always: true},
	}},
	http.StatusInternalServerError: {"The server failed; the error's id is also in the server's log. After a write, the text says so if its outcome is unknown.", nil},
	http.StatusServiceUnavailable: {"The graph is not available, other calls use all the memory for answers and queries, or the request took longer than its time limit.", []header{
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
		add(header{name: "ETag", description: "The commit that the server read, in quotes.", kind: Text, always: !several})
	}
	if status == http.StatusPartialContent {
		add(header{name: "Content-Range", description: "The range of bytes and the length of the value.", kind: Text})
	}
	if status == http.StatusCreated {
		add(header{name: "Location", description: "The path of the upload.", kind: Text, always: true})
	}
	if r.BodyMedia == mediaPiece && status == r.Success || r.AtWriter && r.Method == http.MethodGet && status == http.StatusOK {
		add(header{name: headerUploadOffset, description: "How many bytes have arrived.", kind: Text, always: true})
	}
	if r.Successor != "" {
		add(header{name: "Deprecation", description: "The route is deprecated.", kind: Text, always: true})
		add(header{name: "Link", description: "The route to use instead, with rel=\"successor-version\".", kind: Text, always: true})
	}
	return all
}

// or returns the header in the form of the document.
func (h *header) or() openapi31.HeaderOrReference {
	out := &openapi31.Header{Description: &h.description, Schema: map[string]any{"type": string(h.kind)}}
	if h.always {
		out.Required = &h.always
	}
	return openapi31.HeaderOrReference{Header: out}
}
