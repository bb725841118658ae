package rest_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// FuzzRequest sends arbitrary requests to every route. The server must not fail, and must
// answer only as the table declares.
func FuzzRequest(f *testing.F) {
	routes := own()
	headers := []string{"", "If-None-Match", "Omnigraph-If-Graph-Commit", "Idempotency-Key", "X-Timeout-Ms", "Range", "If-Range", "Content-Type", "Content-Encoding"}
	for i, r := range routes {
		f.Add(uint8(i), "main", "", uint8(0), "", []byte(`{}`))
		f.Add(uint8(i), "everyone", "branch=main&limit=1&mode=append", uint8(1), "*", []byte(`{"query":"query q() { match { $p: Person } return { $p } }","max_rows":2,"params":null}`))
		f.Add(uint8(i), "a/b", "entity=node&type=Person&id=ada&property=name&after=node/Person/ada", uint8(2), `"x"`, []byte(`{"query_source":"query m() { insert Person { name: \"zoe\" } }","dry_run":true}`))
		f.Add(uint8(i), "..", "snapshot=x&;", uint8(3), "k", []byte(`{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}","branch":"x","from":"main","mode":"merge"}`))
		f.Add(uint8(i), "%2f", "from=main&branch=y&dry_run=true", uint8(7), "application/x-ndjson", []byte(`{"edge":"Knows","from":"ada","to":"cyd"}`))
		f.Add(uint8(i), "\x00", "before=2", uint8(4), "1000", []byte(`{"source":"main","target":"main","delete_branch":true}`))
		f.Add(uint8(i), "add_person", "branch=%zz", uint8(6), `W/"x"`, []byte(`{"name":"x/y","from_commit":"z","params":{"name":"dan"},"expect_mutation":"true"}`))
		f.Add(uint8(i), "trial", "type_names=x", uint8(5), "bytes=0-", []byte(`{"schema_source":"node A { a: String @key }","allow_data_loss":true,"keep_commits":"1","keep_since":"2024-05-01","type_names":["Person",7]}`))
		if r.Body != nil && reflect.TypeOf(r.Body).Kind() != reflect.Struct {
			f.Fatalf("the body of %s is a %T", r.Operation, r.Body)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, part, query string, header uint8, v string, body []byte) {
		route := routes[int(n)%len(routes)]
		c := servedtest.Config(t)
		h := resttest.Answers(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{Server: servedtest.Policy{}, MaxBody: 1 << 16, MaxLoad: 1 << 16}))
		path := strings.NewReplacer("{id}", "people", "{name}", part, "{branch}", part, "{commit}", part).Replace(route.Path)
		escaped := url.PathEscape(part)
		raw := strings.NewReplacer("{id}", "people", "{name}", escaped, "{branch}", escaped, "{commit}", escaped).Replace(route.Path)
		r, err := http.NewRequestWithContext(t.Context(), route.Method, "http://example.com/", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Path, r.URL.RawPath, r.URL.RawQuery = path, raw, query
		if r.Header.Set("Content-Type", "application/json"); route.BodyMedia != "" {
			r.Header.Set("Content-Type", route.BodyMedia)
		}
		name := headers[int(header)%len(headers)]
		if name != "" {
			r.Header.Set(name, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
		if w.Code >= 500 && !(w.Code == http.StatusServiceUnavailable && name == "X-Timeout-Ms") {
			t.Errorf("%s: %d %s", route.Operation, w.Code, w.Body)
		}
		if part == "" { // with an empty part, the path is that of another route
			return
		}
		if err := asDeclared(r, w.Result()); err != nil {
			t.Error(err)
		}
	})
}
