// Package resttest checks the requests and answers of tests against the OpenAPI document of
// package rest.
package resttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// document is parsed once, with a different library from the one that writes it.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	for _, media := range []string{"application/x-ndjson", "*/*"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
	b, err := rest.Document()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, err
	}
	for _, s := range doc.Components.Schemas {
		allowNull(s.Value)
	}
	return doc, nil
})

// allowNull gives each schema without a type all types. Such a schema allows null, but the library refuses null
// unless the types list it.
func allowNull(s *openapi3.Schema) {
	inner := slices.Collect(maps.Values(s.Properties))
	if more := s.AdditionalProperties.Schema; more != nil {
		inner = append(inner, more)
	}
	for _, p := range inner {
		if v := p.Value; p.Ref == "" {
			if v.Type == nil && v.AnyOf == nil && v.OneOf == nil {
				v.Type = &openapi3.Types{"object", "array", "string", "number", "boolean", "null"}
			}
			allowNull(v)
		}
	}
}

// Document returns the parsed OpenAPI document.
func Document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Wrap returns h with a check of every exchange. The test fails if the document does not allow
// the answer, or if it does not allow a request that the server accepted. If a body is larger
// than 1 MiB, the check skips that body.
func Wrap(t testing.TB, h http.Handler) http.Handler { return wrap(t, h, true) }

// Answers is like Wrap, but checks no requests. Use it for requests that the server accepts
// although the document does not allow them: scalars written as strings, and null members.
func Answers(t testing.TB, h http.Handler) http.Handler { return wrap(t, h, false) }

// wrap checks each answer against the document. If `requests` is true, it also checks each request.
func wrap(t testing.TB, h http.Handler, requests bool) http.Handler {
	doc := Document(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/mcp") { // not part of the REST API
			h.ServeHTTP(w, r)
			return
		}
		var sent recordedBody
		out := &tee{ResponseWriter: w, status: http.StatusOK}
		in := r.Clone(r.Context())
		in.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, &sent), r.Body}
		h.ServeHTTP(out, in)
		x := exchange{doc: doc, requests: requests, r: r, sent: &sent, status: out.status, header: w.Header(), answer: &out.body}
		if err := x.check(); err != nil {
			t.Errorf("%s %s, answered %d: %v", r.Method, r.URL, out.status, err)
		}
	})
}

// maxRecorded is the limit of a recorded body, in bytes.
const maxRecorded = 1 << 20

// recordedBody records a body of up to maxRecorded bytes.
type recordedBody struct {
	bytes   bytes.Buffer // the bytes recorded so far
	tooLong bool         // the body exceeds maxRecorded
}

// Write records `b`, unless the body is then longer than maxRecorded.
func (k *recordedBody) Write(b []byte) (int, error) {
	if k.tooLong = k.tooLong || k.bytes.Len()+len(b) > maxRecorded; !k.tooLong {
		k.bytes.Write(b)
	}
	return len(b), nil
}

// reader returns the recorded bytes.
func (k *recordedBody) reader() io.ReadCloser { return io.NopCloser(bytes.NewReader(k.bytes.Bytes())) }

// tee records the response while it writes it.
type tee struct {
	http.ResponseWriter
	status int          // HTTP status; 0 if the handler did not set it
	body   recordedBody // the recorded body
}

func (w *tee) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *tee) Write(b []byte) (int, error) {
	_, _ = w.body.Write(b) // never fails
	return w.ResponseWriter.Write(b)
}

func (w *tee) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// exchange is a request and its answer.
type exchange struct {
	doc      *openapi3.T // the OpenAPI document to check against
	requests bool        // whether to check requests too
	r        *http.Request
	sent     *recordedBody // body of the request
	status   int           // of the answer
	header   http.Header   // of the answer
	answer   *recordedBody // body of the answer
}

// check compares the request and the answer with the document.
func (x *exchange) check() error {
	f := find(x.r)
	if f.values["proposal"] == "events" {
		f.op = nil // the path of the feed does not have the methods of a proposal
	}
	if f.op == nil {
		// The document has no schema for such a request; the answer must be an error in any case.
		if x.status != http.StatusNotFound && x.status != http.StatusMethodNotAllowed {
			return errors.New("the document does not have this operation")
		}
		return x.checkFault()
	}
	r := x.r.Clone(x.r.Context())
	r.Body = x.sent.reader()
	if r.Header.Get("Omnigraph-Integers") == "" { // the document requires it of generated clients, but the server does not
		r.Header.Set("Omnigraph-Integers", "string")
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true, RejectWhenRequestBodyNotSpecified: true,
		ExcludeRequestBody: x.sent.tooLong, ExcludeResponseBody: x.answer.tooLong,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: f.values, Options: options,
		Route: &routers.Route{Spec: x.doc, Path: f.pattern, PathItem: x.doc.Paths.Value(f.pattern), Method: r.Method, Operation: f.op},
	}
	err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.status, Header: x.header, Options: options, Body: x.answer.reader(),
	})
	if err != nil {
		return fmt.Errorf("the document does not have this answer: %w", err)
	}
	if !x.requests || x.status >= http.StatusBadRequest {
		return nil
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		return fmt.Errorf("the document does not allow this request: %w", err)
	}
	return nil
}

// checkFault checks an answer against the schema of errors.
func (x *exchange) checkFault() error {
	var v any
	if x.r.Method != http.MethodHead {
		if err := json.Unmarshal(x.answer.bytes.Bytes(), &v); err != nil {
			return fmt.Errorf("the answer does not have the form of an error: %w", err)
		}
		return x.doc.Components.Schemas["Envelope"].Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
	}
	return nil
}

// found is the operation that serves a request, and the values of its path parameters.
type found struct {
	pattern string // path of the operation in the document
	op      *openapi3.Operation
	values  map[string]string // path parameters by name
}

// foundKey is the context key under which find passes a *found to the handlers of operations.
type foundKey struct{}

// operations finds the operation of a request, in the same way as the server finds the route.
var operations = sync.OnceValue(func() *http.ServeMux {
	doc, _ := document() // the caller has checked the error already
	mux := http.NewServeMux()
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			mux.HandleFunc(method+" "+path, func(_ http.ResponseWriter, r *http.Request) {
				f := r.Context().Value(foundKey{}).(*found)
				*f = found{path, op, map[string]string{}}
				for part := range strings.SplitSeq(path, "/") {
					if name, ok := strings.CutPrefix(part, "{"); ok {
						name = strings.TrimSuffix(name, "}")
						f.values[name] = r.PathValue(name)
					}
				}
			})
		}
	}
	return mux
})

// find returns the operation that serves a request, or the zero value.
func find(r *http.Request) (f found) {
	operations().ServeHTTP(discard{}, r.WithContext(context.WithValue(r.Context(), foundKey{}, &f)))
	return f
}

// discard is a response writer that drops everything.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
