// Package resttest holds exchanges of tests to the OpenAPI document of package rest.
package resttest

import (
	"bytes"
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

// Exchange is a request and what answered it.
type Exchange struct {
	Method, Path string // with the query part, escaped
	Header       http.Header
	Body         string

	Status int
	Answer http.Header
	Text   string // the body of the answer
}

// Check fails the test when the answer is not one that the document tells of the route,
// and when a request that was served is not one that it allows. Requests to no route, and
// with methods that a route does not have, have to be answered with the envelope.
func (x *Exchange) Check(t testing.TB) {
	t.Helper()
	doc := Document(t)
	r, err := http.NewRequest(x.Method, "http://localhost"+x.Path, strings.NewReader(x.Body))
	if err != nil {
		return // httptest took what the client would not send
	}
	r.Header = x.Header.Clone()
	pattern, op, values := find(doc, r)
	if op == nil {
		if x.Status < 400 {
			t.Errorf("%s %s answers %d, and the document has no such operation", x.Method, x.Path, x.Status)
		}
		return
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true,
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: values, Options: options,
		Route: &routers.Route{Spec: doc, Path: pattern, PathItem: doc.Paths.Value(pattern), Method: r.Method, Operation: op},
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.Status, Header: x.Answer, Options: options, Body: io.NopCloser(bytes.NewReader([]byte(x.Text))),
	}
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("%s %s answers what the document does not have: %v", x.Method, x.Path, err)
	}
	if x.Status >= 400 {
		return
	}
	if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
		t.Errorf("%s %s was served, and the document does not allow it: %v", x.Method, x.Path, err)
	}
}

// find returns the operation that serves a request and the values of its path.
func find(doc *openapi3.T, r *http.Request) (pattern string, op *openapi3.Operation, values map[string]string) {
	mux := http.NewServeMux()
	for path, item := range doc.Paths.Map() {
		mux.HandleFunc(path, func(_ http.ResponseWriter, r *http.Request) {
			pattern, values = path, map[string]string{}
			for _, p := range strings.Split(path, "/") {
				if name, ok := strings.CutPrefix(p, "{"); ok {
					name = strings.TrimSuffix(name, "}")
					values[name] = r.PathValue(name)
				}
			}
			if op = item.GetOperation(r.Method); op == nil && r.Method == http.MethodHead {
				op = item.Get
			}
		})
	}
	mux.ServeHTTP(discard{}, r)
	return pattern, op, values
}

// discard is a response that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
