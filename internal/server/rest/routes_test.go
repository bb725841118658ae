package rest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// segments gives values to the path parameters.
var segments = strings.NewReplacer("{id}", "people", "{name}", "everyone", "{branch}", "trial", "{commit}", "01J00000000000000000000000")

// ask sends a request as the writer.
func ask(h http.Handler, method, path, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, line := range header {
		name, v, _ := strings.Cut(line, ": ")
		r.Header.Set(name, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
	return w.Result()
}

func message(t *testing.T, resp *http.Response) string {
	t.Helper()
	var e struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		t.Fatal(err)
	}
	return e.Error
}

func newHandler(t testing.TB) http.Handler {
	t.Helper()
	graphs := map[string]*servedgraph.Graph{"people": servedtest.Graph(t, servedtest.Config(t))}
	return resttest.Wrap(t, rest.Handler(graphs, rest.Options{Server: servedtest.Policy{}}))
}

// own returns the routes that this package serves itself.
func own() []rest.Route {
	return slices.DeleteFunc(rest.Routes(), func(r rest.Route) bool { return r.Elsewhere })
}

// TestTable checks that the table is complete. Each row must have everything that documents need,
// and each path and method must be served. The matrix of package server checks the routes with
// Elsewhere.
func TestTable(t *testing.T) {
	h := newHandler(t)
	unchecked := rest.Handler(nil, rest.Options{})
	operations := map[string]bool{}
	allowed := map[string][]string{}
	for _, r := range rest.Routes() {
		if r.Operation == "" || operations[r.Operation] || r.Tag == "" || r.Summary == "" || !strings.HasSuffix(r.Summary, ".") {
			t.Errorf("%s %s: operation %q, tag %q, summary %q", r.Method, r.Path, r.Operation, r.Tag, r.Summary)
		}
		operations[r.Operation] = true
		empty := r.Answer == nil && (r.Success == http.StatusCreated || r.Success == http.StatusNoContent)
		if (r.Answer == nil) == (r.AnswerMedia == "application/json") && !empty {
			t.Errorf("%s: the answer is %T of %s", r.Operation, r.Answer, r.AnswerMedia)
		}
		for _, p := range r.Params {
			if p.Name == "" || p.Description == "" || p.Kind == "" {
				t.Errorf("%s: parameter %+v", r.Operation, p)
			}
		}
		if r.Elsewhere {
			w := httptest.NewRecorder()
			unchecked.ServeHTTP(w, httptest.NewRequest(r.Method, segments.Replace(r.Path), nil))
			if w.Code != http.StatusNotFound {
				t.Errorf("%s is served here: %d %s", r.Operation, w.Code, w.Body)
			}
			continue
		}
		allowed[r.Path] = append(allowed[r.Path], r.Method)
		resp := ask(h, r.Method, segments.Replace(r.Path), "{")
		if resp.StatusCode == http.StatusMethodNotAllowed || resp.StatusCode >= 500 {
			t.Errorf("%s: %s %s answers %s", r.Operation, r.Method, r.Path, resp.Status)
		}
		if resp.StatusCode == http.StatusNotFound {
			if m := message(t, resp); strings.HasPrefix(m, "path ") {
				t.Errorf("%s: %s %s: %s", r.Operation, r.Method, r.Path, m)
			}
		}
	}
	for path, methods := range allowed {
		for _, m := range []string{"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE"} {
			resp := ask(h, m, segments.Replace(path), "")
			served := slices.Contains(methods, m) || m == "DELETE" && strings.HasSuffix(path, "/branches/merge")
			if served == (resp.StatusCode == http.StatusMethodNotAllowed) {
				t.Errorf("%s %s answers %s, and the table serves it: %t; a path with a parameter where this one has a name, or the reverse, takes its requests: choose another path", m, path, resp.Status, served)
			}
			if !served && resp.Header.Get("Allow") == "" {
				t.Errorf("%s %s: no Allow", m, path)
			}
		}
	}
}

// sample returns a value of a member's type.
func sample(t *testing.T, typ reflect.Type) any {
	switch typ {
	case reflect.TypeFor[string](), reflect.TypeFor[*string]():
		return "x"
	case reflect.TypeFor[json.RawMessage]():
		return 7
	case reflect.TypeFor[bool](), reflect.TypeFor[*bool]():
		return true
	case reflect.TypeFor[int32]():
		return 7
	case reflect.TypeFor[[]string]():
		return []string{"Person"}
	case reflect.TypeFor[any]():
		return map[string]any{}
	case reflect.TypeFor[*time.Time]():
		return "2024-05-01T12:30:00Z"
	}
	switch {
	case typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct:
		return membersOf(t, typ.Elem())
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		return []any{membersOf(t, typ.Elem())}
	}
	t.Fatalf("no sample of %s", typ)
	return nil
}

// conditions returns the header lines that a route may require.
func conditions(r *rest.Route) []string {
	var all []string
	for _, p := range r.Params {
		if p.Name == "Omnigraph-If-Graph-Commit" || p.In == rest.Header && p.Required {
			all = append(all, p.Name+": x")
		}
	}
	return all
}

func membersOf(t *testing.T, typ reflect.Type) map[string]any {
	all := map[string]any{}
	for f := range typ.Fields() {
		if f.Anonymous {
			for name, v := range membersOf(t, f.Type) {
				all[name] = v
			}
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[name] = sample(t, f.Type)
	}
	return all
}

// TestBodies checks that the members that a route accepts in its body are exactly the members in
// the table.
func TestBodies(t *testing.T) {
	h := newHandler(t)
	for _, r := range own() {
		if r.Body == nil {
			continue
		}
		all := membersOf(t, reflect.TypeOf(r.Body))
		ask := func() string {
			b, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			resp := ask(h, r.Method, segments.Replace(r.Path), string(b), conditions(&r)...)
			if resp.StatusCode < 400 {
				return ""
			}
			return message(t, resp)
		}
		if m := ask(); strings.Contains(m, "unknown member") {
			t.Errorf("%s declares what it does not take: %s", r.Operation, m)
		}
		all["zzz"] = 1
		if m := ask(); !strings.Contains(m, "zzz: unknown member") {
			t.Errorf("%s takes any member: %s", r.Operation, m)
		}
	}
}

// TestParams checks that each route accepts exactly the parameters that the table declares.
func TestParams(t *testing.T) {
	h := newHandler(t)
	for _, r := range own() {
		path := segments.Replace(r.Path) + "?"
		for _, p := range r.Params {
			if p.In == rest.Query && p.Name != "snapshot" {
				v := "1"
				if p.Enum != nil {
					v = p.Enum[0]
				}
				path += p.Name + "=" + v + "&"
			}
		}
		if resp := ask(h, r.Method, path, "{}"); resp.StatusCode >= 400 {
			if m := message(t, resp); strings.Contains(m, "query parameter") {
				t.Errorf("%s declares what it does not take: %s", r.Operation, m)
			}
		}
		if r.Action == "" {
			continue // a probe may add any parameters
		}
		resp := ask(h, r.Method, path+"zzz=1", "{}", conditions(&r)...)
		if m := message(t, resp); resp.StatusCode != 400 || !strings.Contains(m, "zzz: unknown query parameter") {
			t.Errorf("%s takes any query parameter: %d %s", r.Operation, resp.StatusCode, m)
		}
		if len(conditions(&r)) > 0 {
			continue
		}
		resp = ask(h, r.Method, segments.Replace(r.Path), "{}", "Omnigraph-If-Graph-Commit: x")
		if m := message(t, resp); resp.StatusCode != 400 || !strings.Contains(m, "does not apply to this route") {
			t.Errorf("%s drops a condition: %d %s", r.Operation, resp.StatusCode, m)
		}
	}
}
