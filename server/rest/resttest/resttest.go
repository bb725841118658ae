// Package resttest holds exchanges of tests to the OpenAPI document of package rest.
package resttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/omnigraph-go/omnigraph/server/rest"
)

// document is read once, by another library than the one that writes it.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	for _, media := range []string{"application/x-ndjson", "*/*"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
	b, err := rest.Document()
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(b)
})

// Document returns the OpenAPI document.
func Document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Wrap returns h with a check of every exchange, which fails the test when the answer is
// not one that the document tells of the route, and when a request that was served is not
// one that it allows. Of bodies past 1 MiB only the header is checked.
func Wrap(t testing.TB, h http.Handler) http.Handler { return wrap(t, h, true) }

// Answers is Wrap for requests that may be served though the document does not allow them:
// scalars that are spelled as strings, and members that are null.
func Answers(t testing.TB, h http.Handler) http.Handler { return wrap(t, h, false) }

func wrap(t testing.TB, h http.Handler, requests bool) http.Handler {
	doc := Document(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/mcp") { // is none of the routes
			h.ServeHTTP(w, r)
			return
		}
		var sent kept
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

// mostKept is how much of a body is kept, in bytes.
const mostKept = 1 << 20

// kept is a body, unless it is too long.
type kept struct {
	bytes   bytes.Buffer
	tooLong bool
}

func (k *kept) Write(b []byte) (int, error) {
	if k.tooLong = k.tooLong || k.bytes.Len()+len(b) > mostKept; !k.tooLong {
		k.bytes.Write(b)
	}
	return len(b), nil
}

func (k *kept) reader() io.ReadCloser { return io.NopCloser(bytes.NewReader(k.bytes.Bytes())) }

// tee keeps what is written to a response.
type tee struct {
	http.ResponseWriter
	status int
	body   kept
}

func (w *tee) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *tee) Write(b []byte) (int, error) {
	_, _ = w.body.Write(b) // takes everything
	return w.ResponseWriter.Write(b)
}

func (w *tee) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// exchange is a request and what answered it.
type exchange struct {
	doc      *openapi3.T
	requests bool // are checked, too
	r        *http.Request
	sent     *kept
	status   int
	header   http.Header
	answer   *kept
}

func (x *exchange) check() error {
	f := find(x.r)
	if f.op == nil {
		// What has no operation has no schema of its own, but it is a fault in any case.
		if x.status != http.StatusNotFound && x.status != http.StatusMethodNotAllowed {
			return errors.New("the document has no such operation")
		}
		return x.isFault()
	}
	r := x.r.Clone(x.r.Context())
	r.Body = x.sent.reader()
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
		return fmt.Errorf("the document has no such answer: %w", err)
	}
	if !x.requests || x.status >= http.StatusBadRequest {
		return nil
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		return fmt.Errorf("the document allows no such request: %w", err)
	}
	return nil
}

// isFault holds an answer to the schema of faults.
func (x *exchange) isFault() error {
	var v any
	if x.r.Method != http.MethodHead {
		if err := json.Unmarshal(x.answer.bytes.Bytes(), &v); err != nil {
			return fmt.Errorf("the answer is no fault: %w", err)
		}
		return x.doc.Components.Schemas["Error"].Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
	}
	return nil
}

// found is the operation that serves a request, and the values of its path.
type found struct {
	pattern string
	op      *openapi3.Operation
	values  map[string]string
}

type foundKey struct{}

// operations finds operations as the server finds routes.
var operations = sync.OnceValue(func() *http.ServeMux {
	doc, _ := document() // whoever asks has it
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

// find returns what serves a request, or a zero value.
func find(r *http.Request) (f found) {
	operations().ServeHTTP(discard{}, r.WithContext(context.WithValue(r.Context(), foundKey{}, &f)))
	return f
}

// discard is a response that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
