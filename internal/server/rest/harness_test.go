package rest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// request is one exchange with the handler. Its path is relative to /graphs/people. If the path
// starts with two slashes, it is absolute, without the first of them. COMMIT stands for the head of
// main. In the path, the header and the body, that is the head before the request. In the expected
// answer, it is the head after the request.
type request struct {
	name     string
	actor    *access.Actor
	method   string
	path     string
	media    string // empty means application/json
	encoding string // the Content-Encoding
	send     string // a header line "Name: value" of the request
	body     string
	status   int
	want     string // a part of the answer
	lacks    string // a text that the answer must not contain
	header   string // a header line "Name: value" of the answer
}

func (q request) run(t *testing.T, c servedgraph.Config, h http.Handler) {
	t.Helper()
	path := "/graphs/people" + q.path
	if strings.HasPrefix(q.path, "//") {
		path = q.path[1:]
	}
	head := headOf(t, c.Graph)
	r := httptest.NewRequest(q.method, strings.ReplaceAll(path, "COMMIT", head), strings.NewReader(strings.ReplaceAll(q.body, "COMMIT", head)))
	if q.media == "" {
		q.media = "application/json"
	}
	r.Header.Set("Content-Type", q.media)
	if q.encoding != "" {
		r.Header.Set("Content-Encoding", q.encoding)
	}
	if name, v, ok := strings.Cut(q.send, ": "); ok {
		r.Header.Set(name, strings.ReplaceAll(v, "COMMIT", head))
	}
	if q.actor != nil {
		r = r.WithContext(access.WithActor(r.Context(), q.actor))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	head = headOf(t, c.Graph)
	got := strings.ReplaceAll(w.Body.String(), head, "COMMIT")
	if w.Code != q.status || !strings.Contains(got, q.want) || q.lacks != "" && strings.Contains(got, q.lacks) {
		t.Errorf("got  %d %s\nwant %d %s", w.Code, got, q.status, q.want)
	}
	if q.header != "" {
		name, want, _ := strings.Cut(q.header, ": ")
		if got := strings.ReplaceAll(w.Header().Get(name), head, "COMMIT"); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	if err := asDeclared(r, w.Result()); err != nil {
		t.Error(err)
	}
}

func headOf(t *testing.T, g engine.Graph) string {
	t.Helper()
	s, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Commit.ID
}

// declared finds the route of a request in the table.
var declared = func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range rest.Routes() {
		mux.Handle(r.Method+" "+r.Path, routed{r})
	}
	return mux
}()

type routed struct{ rest.Route }

func (routed) ServeHTTP(http.ResponseWriter, *http.Request) {}

func routeOf(r *http.Request) (rest.Route, bool) {
	h, _ := declared.Handler(r)
	route, known := h.(routed)
	return route.Route, known
}

// asDeclared returns an error unless an answer has a declared form: every error must be an
// envelope, and every success must be as the table declares it for the route.
func asDeclared(r *http.Request, resp *http.Response) error {
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	route, known := routeOf(r)
	if known && resp.StatusCode != http.StatusMethodNotAllowed && !slices.Contains(route.AllStatuses(), resp.StatusCode) {
		return fmt.Errorf("%s answers %d, which it does not declare", route.Operation, resp.StatusCode)
	}
	if known && (route.Successor != "") != (resp.Header.Get("Deprecation") == "true") {
		return fmt.Errorf("%s: Deprecation is %q", route.Operation, resp.Header.Get("Deprecation"))
	}
	media := resp.Header.Get("Content-Type")
	switch {
	case resp.StatusCode == http.StatusNotModified:
		if len(b) > 0 {
			return fmt.Errorf("304 with a body: %s", b)
		}
		return nil
	case resp.StatusCode >= 400:
		var e struct{ Error, Code string }
		err := json.Unmarshal(b, &e)
		if err != nil || media != "application/json" || e.Error == "" || (e.Code == "") != (resp.StatusCode == http.StatusPreconditionFailed) {
			return fmt.Errorf("no envelope: %s %s", media, b)
		}
		return nil
	case !known:
		return fmt.Errorf("%s %s is in no row of the table", r.Method, r.URL.Path)
	case media != route.AnswerMedia:
		return fmt.Errorf("%s answers with %s, and declares %s", route.Operation, media, route.AnswerMedia)
	case route.Answer == nil:
		return nil
	}
	if route.Tagged && (resp.Header.Get("ETag") == "" && !route.Writes) {
		return fmt.Errorf("%s answers without an entity tag", route.Operation)
	}
	kinds, ok := route.Answer.(rest.OneOf)
	if !ok {
		kinds = rest.OneOf{route.Answer}
	}
	for _, k := range kinds {
		if err = isA(b, reflect.TypeOf(k)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", route.Operation, err)
}

// isA returns an error if an answer does not fit a type: if it has a member that the type
// lacks, or lacks a member that the type always has.
func isA(b []byte, typ reflect.Type) error {
	v := reflect.New(typ)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Interface()); err != nil {
		return fmt.Errorf("%w: %s", err, b)
	}
	again, err := json.Marshal(v.Interface())
	if err != nil {
		return err
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(b, &got), json.Unmarshal(again, &want)); err != nil {
		return err
	}
	return holds(got, want, "answer")
}

// holds checks that the object `got` contains every member of `want`.
func holds(got, want any, at string) error {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, want an object", at, got)
		}
		for name, w := range want {
			v, ok := g[name]
			if !ok {
				return fmt.Errorf("%s has no member %s", at, name)
			}
			if err := holds(v, w, at+"."+name); err != nil {
				return err
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s is %v, want an array", at, got)
		}
		for i, w := range want {
			if err := holds(g[i], w, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// do sends a request as an actor.
func do(h http.Handler, actor *access.Actor, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	return w
}
