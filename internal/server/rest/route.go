package rest

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Route is one route of the REST API. The server, its documentation and its tests all use the
// same table of routes.
type Route struct {
	Method string // GET includes HEAD
	Path   string // the pattern, such as /graphs/{id}/query; a part in braces is one escaped segment

	Operation   string // the name in logs and documents, in snake_case
	Tag         string // the group in documents
	Summary     string // one line about the route
	Description string // empty if Summary says everything

	// Successor is the path of the route that replaces a deprecated one; it is empty for routes
	// that are not deprecated. Answers of a deprecated route have the headers Deprecation and Link.
	Successor string

	Params []Param // parameters of the path, the query string and the header, in this order

	Body         any    // the zero value of the struct that clients send as JSON; nil for none
	BodyMedia    string // the media type of the body; empty for none
	BodyRequired bool   // if false, an empty body counts as an empty object

	Answer      any    // the zero value of the struct in the answer, a [OneOf], or nil
	AnswerMedia string // the media type of a successful answer
	Success     int    // the status of a successful answer without a body; 0 for 200

	// Statuses are the statuses of this route that [Route.AllStatuses] cannot derive from its
	// other fields.
	Statuses []int

	// Action is the right that the caller needs; empty for a route that needs no actor.
	Action tool.Action
	// ExtraActions are further rights, which only some requests need. Description says which
	// requests need them.
	ExtraActions []tool.Action

	Writes bool // whether the route may change something
	// Events is true if the route sends server-sent events to a client that accepts them.
	Events bool
	// Columns is true if the route sends the rows of a read as an Arrow stream to a client that
	// accepts one.
	Columns bool

	// Values is true if a successful answer can have values of properties or columns. Such a route has the
	// parameter integersParam.
	Values bool

	// Streamed is true if the server uses the body while it arrives. Then neither the size of the body nor the time of
	// the whole request is limited by the server; see [IsStreamed].
	Streamed bool
	// Long is true if the answer may take longer than the server gives other answers. The body is small.
	Long bool

	// AtWriter is true if the server that writes the graph must answer, although the route changes nothing in the graph.
	AtWriter bool

	Tagged bool // whether the ETag of a success is the commit that was read

	// Elsewhere says that [Handler] does not serve the route. The server serves it in front of
	// Handler: before authentication, or without admission.
	Elsewhere bool

	// Open says that clients may use the route without a token; Description says how the answer
	// then differs. A route that ignores tokens altogether has no status 401.
	Open bool

	// Refusals gives, by error status, a body that the route may send instead of the envelope.
	Refusals map[int]any

	handle func(*exchange) error // answers a request

	example example // a request of the documentation; zero for a route that needs only the graph
}

// OneOf is the Answer of a route with several kinds of answers: the zero values of their
// structs.
type OneOf []any

// Param is a parameter of a route outside of its body.
type Param struct {
	Name        string // of the parameter
	In          In
	Kind        Kind     // type of the value
	Enum        []string // the allowed texts; nil allows any
	Min         int64    // the minimum of a Number
	Max         int      // the limit of a Text in bytes; 0 for no limit of its own
	Required    bool     // a request must have it
	Declared    bool     // documents say that a request must have it, but the server takes requests without it
	Many        bool     // a request may repeat the parameter; all its values count
	Description string   // for the documents

	key string // of a Header in http.Header; set by [Route.complete]
}

// In is the place of a parameter in a request.
type In string

// The places of parameters.
const (
	Path   In = "path" // a part of the path
	Query  In = "query"
	Header In = "header"
)

// Kind is the type of a parameter.
type Kind string

// The kinds of parameters.
const (
	Text   Kind = "string"
	Number Kind = "integer" // a whole number
)

// The headers that routes read from requests. Those that handlers look up in an http.Header are in its
// canonical form.
const (
	headerTimeout     = "X-Timeout-Ms"              // the client's time limit in milliseconds
	headerIdempotency = "Idempotency-Key"           // key of a write; see keyParam
	headerIfCommit    = "Omnigraph-If-Graph-Commit" // the commit that the branch must be at
	headerMessage     = client.HeaderMessage        // the message of the commit, see messageParam
	headerAtLeast     = "Omnigraph-At-Least"        // a commit that the server must know; see atLeastParam
	headerIfNone      = "If-None-Match"             // versions of the answer that the client has
	headerIfMatch     = "If-Match"                  // versions that the client accepts
	headerLastEvent   = "Last-Event-ID"             // the last event that a subscriber has
	headerIntegers    = client.HeaderIntegers       // how answers write integers; see integersParam
)

// Routes returns the routes in the order of the reference. The caller owns the slice.
func Routes() []Route {
	all := slices.Concat(routes, watchRoutes, importRoutes)
	for i := range all {
		all[i].complete()
	}
	return all
}

// OnGraph reports whether the route belongs to a graph.
func (r *Route) OnGraph() bool { return strings.HasPrefix(r.Path, "/graphs/{id}/") }

// AllStatuses lists every status that the route itself can answer with, in ascending order.
func (r *Route) AllStatuses() []int {
	if r.Elsewhere {
		all := append([]int{http.StatusOK, http.StatusForbidden, http.StatusInternalServerError}, r.Statuses...)
		slices.Sort(all)
		return slices.Compact(all)
	}
	// 403 also answers requests for a host, or from an origin, that the server does not serve.
	all := append([]int{cmp.Or(r.Success, http.StatusOK), http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}, r.Statuses...)
	if r.Action != "" {
		all = append(all, http.StatusUnauthorized, http.StatusTooManyRequests)
	}
	if r.OnGraph() {
		all = append(all, http.StatusNotFound, http.StatusRequestEntityTooLarge)
	}
	if r.BodyMedia != "" {
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.Writes || slices.ContainsFunc(r.Params, func(p Param) bool { return p.Name == branchParam.Name }) { // the branch may be a draft that has ended
		all = append(all, http.StatusConflict)
	}
	if r.takes(headerIfCommit) {
		all = append(all, http.StatusPreconditionFailed)
	}
	if r.takes(headerIfNone) {
		all = append(all, http.StatusNotModified)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// takes reports whether the route has a header parameter with the given name.
func (r *Route) takes(header string) bool {
	return slices.ContainsFunc(r.Params, func(p Param) bool { return p.In == Header && p.Name == header })
}

// segment matches a parameter in the pattern of a path, such as {id}.
var segment = regexp.MustCompile(`\{(\w+)\}`)

// complete adds the parameters in the path and the parameters that every route has.
func (r *Route) complete() {
	var path []Param
	for _, m := range segment.FindAllStringSubmatch(r.Path, -1) {
		path = append(path, Param{Name: m[1], In: Path, Kind: Text, Required: true, Description: pathParams[m[1]]})
	}
	r.Params = append(path, r.Params...)
	if r.OnGraph() && !r.Elsewhere {
		r.Params = append(r.Params, atLeastParam)
	}
	if r.Values {
		r.Params = append(r.Params, integersParam)
	}
	timeout := Param{Name: headerTimeout, In: Header, Kind: Number, Min: 1, Description: "The time limit of the request in milliseconds."}
	if !r.Elsewhere {
		r.Params = append(r.Params, timeout)
	}
	if r.BodyMedia == "" && r.Body != nil {
		r.BodyMedia = mediaJSON
	}
	for i := range r.Params {
		r.Params[i].key = http.CanonicalHeaderKey(r.Params[i].Name)
	}
	r.AnswerMedia = cmp.Or(r.AnswerMedia, mediaJSON)
}

// pathParams has the description of each parameter that a path can have.
var pathParams = map[string]string{
	"id":     "The name of the graph.",
	"name":   "The name of the stored query.",
	"branch": "The name of the branch; write / in it as %2F, and the name . as %2E.",
	"commit": "The id of the commit.",

	"proposal": "The id of the proposal.",
	"upload":   "The id of the upload.",
	"watch":    "The id of the watch.",
}

// The media types of bodies and answers. Blobs have mediaBytes.
const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaBytes  = "application/octet-stream"
	mediaText   = "text/plain"
	mediaEvents = "text/event-stream"
)
