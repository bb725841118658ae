// Package mcp serves one graph over the Model Context Protocol. It has two transports: Streamable
// HTTP, always stateless and with JSON answers, and stdio with one message per line. Both read
// messages, look up the method in one table (methods.go) and encode the result. From the MCP SDK
// the package uses the types of params and results, but not the SDK's server.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Options configures how to serve a graph, and lists the tools, resources and prompts to serve in
// addition to the graph's own. The zero value takes the defaults and adds nothing.
type Options struct {
	MaxBody int64 // limit of a request body in bytes; 0 means 32 MiB

	// Forward sends a request that writes, with its body, to the server that writes the graph, and
	// sends that server's answer to the client. Forward reports false, and has not answered the
	// request, if this server must answer. If Forward is nil, this server answers every request.
	Forward func(w http.ResponseWriter, r *http.Request, body []byte) bool

	// Stopping ends when the server begins to stop. Streams of notifications then end. If it is nil,
	// they end with their clients.
	Stopping context.Context

	Tools     []Tool // their names must differ from those of the graph's tools
	Resources []Resource
	Templates []Template
	Prompts   []Prompt
}

const (
	defaultMaxBody = 32 << 20 // bytes of a request body

	// maxBatch is the maximum number of messages in a batch, in the protocol versions that have
	// batches. Each message may ask for an answer as large as the limits of a result allow.
	maxBatch = 16
)

// The headers of the protocol. The server refuses a request that repeats one. Otherwise a proxy
// that checks only the first value could approve a request that the server understands differently.
const (
	versionHeader = "Mcp-Protocol-Version" // version of the protocol
	methodHeader  = "Mcp-Method"           // repeats the method of the message
	nameHeader    = "Mcp-Name"             // repeats the tool, prompt or resource of the message
)

// Handler serves the graph over HTTP. The contexts of its requests carry the actor, see
// [access.WithActor]; without an actor every call is denied. Handler panics if the input schema of
// a tool is not a JSON Schema of an object, or if two tools have the same name.
func Handler(g *servedgraph.Graph, opts Options) http.Handler {
	if opts.MaxBody == 0 {
		opts.MaxBody = defaultMaxBody
	}
	return &handler{newSurface(g, opts), opts.MaxBody, opts.Forward, cmp.Or(opts.Stopping, never)}
}

// handler answers the requests of Streamable HTTP. The SDK has a handler too, which creates a
// session for each request and decodes the body several times: BenchmarkCallSDK takes some 15
// times as long as BenchmarkCall.
type handler struct {
	surface *surface // what the graph offers
	maxBody int64    // limit of a request body in bytes

	forward func(w http.ResponseWriter, r *http.Request, body []byte) bool // see Options; may be nil

	stopping context.Context // ends when the server begins to stop
}

// ServeHTTP answers one POST with the answers to its messages.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuseMethod(w, r.Method)
		return
	}
	if fault := checkEnvelope(r); fault != nil {
		fault.write(w)
		return
	}
	limit := h.maxBody
	if IsSubscription(r) {
		limit = min(limit, maxListenBody)
	}
	body, fault := read(w, r, limit)
	if fault != nil {
		fault.write(w)
		return
	}
	var msgs []message
	var batch bool
	var err error
	if h.surface.graph.Turn(r.Context(), len(body), func() { msgs, batch, err = readMessages(body) }) != nil {
		badRequest("the request was stopped before it was read").write(w)
		return
	}
	if err != nil {
		var bad *badMessage
		errors.As(err, &bad)
		(&httpFault{status: http.StatusBadRequest, id: bad.id, fault: &jsonrpc.Error{Code: bad.code, Message: bad.detail}}).write(w)
		return
	}
	version := r.Header.Get(versionHeader)
	if !batch && msgs[0].method == "initialize" && !supported(version) {
		version = "" // the body says what the client supports, and the answer what both support
	}
	if fault := checkMessages(r.Header, version, msgs, batch); fault != nil {
		fault.write(w)
		return
	}
	if h.forward != nil && h.surface.writes(msgs) && h.forward(w, r, body) {
		return
	}
	if version == "" {
		version = assumedVersion
	}
	if m := &msgs[0]; version >= statelessVersion && m.method == listenMethod && m.isCall() && !m.response {
		h.listen(w, r, m)
		return
	}
	ctx, fault := withToolsets(r)
	if fault != nil {
		fault.write(w)
		return
	}
	if strings.HasPrefix(r.Header.Get(sessionHeader), appsSession) {
		ctx = withApps(ctx)
	}
	if !batch && declaresApps(&msgs[0]) {
		w.Header().Set(sessionHeader, newAppsSession())
	}
	if token := progressToken(&msgs[0]); token != nil && !batch && accepts(r.Header["Accept"], "text", "event-stream") {
		h.progress(ctx, w, version, msgs, token)
		return
	}
	status, challenge, answer := h.surface.answer(ctx, version, msgs, batch)
	if challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if answer == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	write(w, status, answer)
}

// writes reports whether one of the messages is a call of a tool that may write.
func (s *surface) writes(msgs []message) bool {
	for i := range msgs {
		m := &msgs[i]
		if m.method == "tools/call" && len(m.name) > 0 && m.name[0] == '"' && (unquoted(m.name) == decideName || s.graph.ToolWrites(unquoted(m.name), m.args)) {
			return true
		}
	}
	return false
}

// answer answers the calls among the messages, in their order. The body is nil if no message is
// a call. If the token lacks a scope for the only call, the challenge is the value of WWW-Authenticate.
func (s *surface) answer(ctx context.Context, version string, msgs []message, batch bool) (status int, challenge string, body []byte) {
	status = http.StatusOK
	for i := range msgs {
		m := &msgs[i]
		if !m.isCall() || m.response {
			continue // a notification, or a response that the server never asked for
		}
		switch {
		case !batch:
		case body == nil:
			body = append(body, '[')
		default:
			body = append(body, ',')
		}
		var fault *jsonrpc.Error
		var lacks string
		body, fault, lacks = s.answerCall(ctx, version, m, body)
		switch {
		case batch:
		case lacks != "":
			status, challenge = http.StatusForbidden, lacks
		default:
			status = statusOf(version, fault)
		}
	}
	if batch && body != nil {
		body = append(body, ']')
	}
	return status, challenge, body
}

// answerCall appends the answer to a call. If the answer is an error, answerCall returns it, with the challenge for a token that
// lacks a scope.
func (s *surface) answerCall(ctx context.Context, version string, m *message, dst []byte) (body []byte, fault *jsonrpc.Error, challenge string) {
	res, err := s.handle(ctx, version, m)
	if err != nil {
		fault = wireError(err)
		if lacks, ok := err.(*insufficientScope); ok {
			challenge = lacks.challenge
		}
	}
	late := s.graph.Turn(ctx, textBytes(res), func() {
		dst, err = s.appendAnswer(dst, m.id, res, fault, version >= statelessVersion)
	})
	if err = cmp.Or(late, err); err != nil {
		fault = wireError(s.fail(ctx, err))
		dst = appendError(dst, m.id, fault)
	}
	return dst, fault, challenge
}

// textBytes returns the approximate number of bytes of text in a result.
func textBytes(res mcp.Result) (n int) {
	switch r := res.(type) {
	case *toolAnswer:
		return len(r.json)
	case *mcp.CallToolResult:
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				n += len(t.Text)
			}
		}
	case *mcp.GetPromptResult:
		for _, m := range r.Messages {
			if t, ok := m.Content.(*mcp.TextContent); ok {
				n += len(t.Text)
			}
		}
	}
	return n
}

// read reads the body, at most maxBody bytes of it.
func read(w http.ResponseWriter, r *http.Request, maxBody int64) ([]byte, *httpFault) {
	if r.ContentLength > maxBody {
		return nil, tooLarge(maxBody)
	}
	// The declared length gives the capacity, up to 1 MiB. A body that is shorter than declared
	// ends early.
	size := max(r.ContentLength, 0)
	body := make([]byte, 0, min(size, 1<<20)+1)
	limited := http.MaxBytesReader(w, r.Body, maxBody)
	for {
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			var tooBig *http.MaxBytesError
			if errors.As(err, &tooBig) {
				return nil, tooLarge(maxBody)
			}
			return nil, badRequest("the request body could not be read")
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
	if len(body) == 0 {
		return nil, badRequest("found an empty body, expected a JSON-RPC message")
	}
	return body, nil
}

// refuseMethod answers with the error envelope of the REST API: a client that sends another
// method than POST does not speak MCP.
func refuseMethod(w http.ResponseWriter, method string) {
	w.Header().Set("Allow", http.MethodPost)
	envelope.Write(w, envelope.New(wireerror.WrongMethod, client.CodeMethodNotAllowed, "found "+method+", expected POST"))
}

// checkEnvelope checks the headers of a POST against the rules of the transport.
func checkEnvelope(r *http.Request) *httpFault {
	for _, name := range [...]string{versionHeader, methodHeader, nameHeader} {
		if n := len(r.Header[name]); n > 1 {
			return badRequest("found " + strconv.Itoa(n) + " " + name + " headers, expected at most one; send the header once")
		}
	}
	if v := r.Header["Content-Type"]; len(v) != 1 || v[0] != "application/json" {
		mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if len(v) > 1 || err != nil || mediaType != "application/json" {
			return refused(http.StatusUnsupportedMediaType, "the Content-Type must be application/json, sent once")
		}
	}
	if codings := r.Header["Content-Encoding"]; codings != nil && !(len(codings) == 1 && (codings[0] == "" || codings[0] == "identity")) {
		return refused(http.StatusUnsupportedMediaType, "found a Content-Encoding, expected none; send the body uncompressed")
	}
	if !accepts(r.Header["Accept"], "application", "json") {
		return badRequest("the Accept header leaves out application/json, which every answer is; add application/json to it")
	}
	if r.Header["Last-Event-Id"] != nil {
		return badRequest("found a Last-Event-ID header; there are no streams to resume")
	}
	return nil
}

// accepts reports whether a client takes a media type. Without an Accept header it takes all of them. The
// protocol asks clients to list both media types of the transport. Many do not, and almost all answers
// are JSON, so the server wants only the media type that it sends.
func accepts(values []string, main, sub string) bool {
	listed, taken := false, false
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			mediaType, params, _ := strings.Cut(part, ";")
			mediaType = strings.ToLower(strings.TrimSpace(mediaType))
			listed = listed || mediaType != ""
			if mediaType == main+"/"+sub || mediaType == main+"/*" || mediaType == "*/*" {
				taken = taken || !excluded(params)
			}
		}
	}
	return taken || !listed
}

// excluded reports whether the parameters of a media type have the quality 0, which refuses the type.
func excluded(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		if q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(p)), "q="); ok {
			n, err := strconv.ParseFloat(q, 64)
			return err == nil && n == 0
		}
	}
	return false
}

// checkMessages checks messages against each other and against the protocol version of the
// request, which is empty if the header is absent.
func checkMessages(header http.Header, version string, msgs []message, batch bool) *httpFault {
	for i := range msgs {
		if m := &msgs[i]; version != "" && !supported(version) {
			return &httpFault{status: http.StatusBadRequest, id: m.id, fault: unsupportedVersion(version)}
		}
	}
	if batch && version >= unbatchedVersion {
		return badRequest("found a batch, which protocol version " + version + " does not allow; send the messages one by one")
	}
	for i := range msgs {
		m := &msgs[i]
		if fault := checkMeta(m, version); fault != nil {
			return &httpFault{status: http.StatusBadRequest, id: m.id, fault: fault}
		}
		notifies := strings.HasPrefix(m.method, "notifications/")
		switch {
		case m.response:
		case !m.isCall() && !notifies:
			return badRequest("the call of " + m.method + " has no id")
		case m.isCall() && notifies && methods[m.method] != nil:
			return &httpFault{status: http.StatusBadRequest, id: m.id,
				fault: &jsonrpc.Error{Code: codeInvalidRequest, Message: "the notification " + m.method + " has an id"}}
		}
		if version >= statelessVersion && !m.response {
			if detail := checkHeaders(header, m); detail != "" {
				return &httpFault{status: http.StatusBadRequest, id: m.id, fault: &jsonrpc.Error{Code: codeHeaderMismatch, Message: detail}}
			}
		}
	}
	return nil
}

// checkHeaders compares the message with the headers that repeat its method and name for
// intermediaries. It returns the difference, or "" if there is none.
func checkHeaders(header http.Header, m *message) string {
	switch found := header.Get(methodHeader); {
	case found == "":
		return "missing required " + methodHeader + " header"
	case found != m.method:
		return "header mismatch: " + methodHeader + " header value '" + found + "' does not match body value '" + m.method + "'"
	}
	row := methods[m.method]
	if row == nil || row.subject == nil {
		return ""
	}
	name := unquoted(row.subject(m))
	switch found := header.Get(nameHeader); {
	case found == "":
		return "missing required " + nameHeader + " header for method " + strconv.Quote(m.method)
	case found != name:
		return "header mismatch: " + nameHeader + " header value '" + found + "' does not match body value '" + name + "'"
	}
	return ""
}

// httpFault is the error of a request that is refused before any method is called.
type httpFault struct {
	status int            // HTTP status
	id     []byte         // id of the message; nil if unknown
	fault  *jsonrpc.Error // the JSON-RPC error
}

// refused returns the fault of a request that the server refuses with a status.
func refused(status int, message string) *httpFault {
	return &httpFault{status: status, fault: &jsonrpc.Error{Code: codeInvalidRequest, Message: message}}
}

// badRequest returns the fault for a request that the server cannot understand.
func badRequest(message string) *httpFault { return refused(http.StatusBadRequest, message) }

// tooLarge returns the fault for a body of more than `limit` bytes.
func tooLarge(limit int64) *httpFault {
	return refused(http.StatusRequestEntityTooLarge,
		"the request body is larger than "+strconv.FormatInt(limit, 10)+" bytes; load large data in parts")
}

// write answers the request with the fault.
func (f *httpFault) write(w http.ResponseWriter) { write(w, f.status, appendError(nil, f.id, f.fault)) }

// The values of the headers that all answers have.
var asJSON, noSniff, noStore = []string{"application/json"}, []string{"nosniff"}, []string{"no-store"}

// write sends a JSON body.
func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"], h["X-Content-Type-Options"], h["Cache-Control"] = asJSON, noSniff, noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	// A write fails only if the client has gone away.
	_, _ = w.Write(body)
}
