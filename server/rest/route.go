package rest

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Route is one route of the interface. What serves requests, what documents them and
// what tests them all read the same table.
type Route struct {
	Method string // GET stands for HEAD too
	Path   string // the pattern, such as /graphs/{id}/query; a part in braces is one escaped segment

	Operation   string // its name in the log and in documents, in snake_case
	Tag         string // what it is listed under
	Summary     string
	Description string // empty when Summary says all

	// Successor is the path of the route that takes the place of a deprecated one; empty
	// for routes that are not deprecated. Answers then carry Deprecation and Link.
	Successor string

	Params []Param // of the path, the query part and the header, in this order

	Body         any    // the zero value of the struct that is sent as JSON; nil for none
	BodyMedia    string // the media type of the body; empty for none
	BodyRequired bool   // otherwise no body at all stands for an empty object

	Answer      any    // the zero value of the struct that is answered as JSON, a [OneOf], or nil
	AnswerMedia string // the media type of a success

	// Statuses are those that the route can answer with besides those of
	// [Route.AllStatuses] that every route has.
	Statuses []int

	// Action is what the caller needs; empty for a route that asks nobody.
	Action tool.Action
	// Also are what some requests need besides; Description says which.
	Also []tool.Action

	Writes bool // it may change something
	Tagged bool // a success carries as ETag the commit that was read

	// Elsewhere says that it is not [Handler] that serves the route, but what a server has
	// in front of it: before anybody is asked who they are, or past the admission.
	Elsewhere bool

	// Open says that the route may be asked without a token, and how it then answers is
	// in Description. A route that does not look at tokens at all has no 401.
	Open bool

	// Refusals are the bodies, besides the envelope, of statuses that are no success.
	Refusals map[int]any

	handle func(*exchange) error
}

// OneOf is the Answer of a route whose requests have answers of several kinds: the zero
// values of their structs.
type OneOf []any

// Param is a parameter of a route outside of its body.
type Param struct {
	Name        string
	In          In
	Kind        Kind
	Enum        []string // the texts that it may have; nil for any
	Min         int64    // of a Number
	Max         int      // bytes of a Text; zero for no bound of its own
	Required    bool
	Description string
}

// In is where a parameter stands.
type In string

// The places of parameters.
const (
	Path   In = "path"
	Query  In = "query"
	Header In = "header"
)

// Kind is what a parameter is.
type Kind string

// The kinds of parameters.
const (
	Text   Kind = "string"
	Number Kind = "integer"
)

// The headers that requests may have.
const (
	headerTimeout     = "X-Timeout-Ms"
	headerIdempotency = "Idempotency-Key"
	headerIfCommit    = "Omnigraph-If-Graph-Commit"
	headerIfNone      = "If-None-Match"
)

// Routes returns the routes in the order of the reference. The slice is the caller's.
func Routes() []Route {
	all := slices.Clone(routes)
	for i := range all {
		all[i].complete()
	}
	return all
}

// OnGraph reports whether the route is one of a graph.
func (r *Route) OnGraph() bool { return strings.HasPrefix(r.Path, "/graphs/{id}/") }

// AllStatuses lists every status that the route itself can answer with, ascending.
func (r *Route) AllStatuses() []int {
	if r.Elsewhere {
		all := append([]int{http.StatusOK, http.StatusForbidden, http.StatusInternalServerError}, r.Statuses...)
		slices.Sort(all)
		return slices.Compact(all)
	}
	// Forbidden is also a host or an origin that the server does not serve.
	all := append([]int{http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}, r.Statuses...)
	if r.Action != "" {
		all = append(all, http.StatusUnauthorized, http.StatusTooManyRequests)
	}
	if r.OnGraph() {
		all = append(all, http.StatusNotFound, http.StatusRequestEntityTooLarge)
	}
	if r.BodyMedia != "" {
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.Writes {
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

// takes reports whether requests may have a header.
func (r *Route) takes(header string) bool {
	return slices.ContainsFunc(r.Params, func(p Param) bool { return p.In == Header && p.Name == header })
}

var segment = regexp.MustCompile(`\{(\w+)\}`)

// complete adds the parameters that follow from the path and those of every route.
func (r *Route) complete() {
	var path []Param
	for _, m := range segment.FindAllStringSubmatch(r.Path, -1) {
		path = append(path, Param{Name: m[1], In: Path, Kind: Text, Required: true, Description: pathParams[m[1]]})
	}
	r.Params = append(path, r.Params...)
	timeout := Param{Name: headerTimeout, In: Header, Kind: Number, Min: 1, Description: "How many milliseconds the request may take."}
	if !r.Elsewhere {
		r.Params = append(r.Params, timeout)
	}
	if r.BodyMedia == "" && r.Body != nil {
		r.BodyMedia = mediaJSON
	}
	r.AnswerMedia = cmp.Or(r.AnswerMedia, mediaJSON)
}

var pathParams = map[string]string{
	"id":     "The name of the graph.",
	"name":   "The name of the stored query.",
	"branch": "The name of the branch; a / in it is written %2F, and the name . is written %2E.",
	"commit": "The id of the commit.",
}

const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaBytes  = "application/octet-stream"
	mediaText   = "text/plain"
)
