package rest_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const blobSchema = `node Doc {
  name: String @key
  photo: Blob?
}
node Page {
  doc: String
  number: I32
  photo: Blob?
  @key(doc, number)
}
edge Cites: Doc -> Doc {
  scan: Blob?
}
interface Printed {
  photo: Blob?
}
node Leaf implements Printed {}
edge Copies: Printed -> Printed {
  scan: Blob?
}
`

// served starts a server for a graph. All of its requests come from the actor.
func served(t *testing.T, g engine.Graph, actor *access.Actor) *httptest.Server {
	t.Helper()
	c := servedgraph.Config{ID: "people", Graph: g, Authorizer: servedtest.Policy{}}
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	}))
	t.Cleanup(srv.Close)
	return srv
}

// fetch sends a request with header lines and returns the answer with its body.
func fetch(t *testing.T, method, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, v, _ := strings.Cut(line, ": ")
		r.Header.Set(name, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, b
}

func TestBlob(t *testing.T) {
	schema := servedtest.SchemaOf(t, blobSchema)
	stored, err := embedded.Create(t.Context(), fs.NewMem(), "graph", blobSchema, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stored.Close() })
	for name, g := range map[string]engine.Graph{"naive": naive.New(blobSchema, schema, naive.Sound), "embedded": stored} {
		t.Run(name, func(t *testing.T) { testBlob(t, g) })
	}
}

func testBlob(t *testing.T, g engine.Graph) {
	page := []byte("<html><script>alert(1)</script>" + strings.Repeat("x", 1000) + "\x00\xff</html>")
	encoded := base64.StdEncoding.EncodeToString(page)
	lines := `{"type":"Doc","data":{"name":"a/b &?","photo":"` + encoded + `"}}
{"type":"Doc","data":{"name":"none"}}
{"edge":"Cites","from":"none","to":"a/b &?","data":{"id":"e1","scan":"` + base64.StdEncoding.EncodeToString([]byte("scanned")) + `"}}
{"edge":"Cites","from":"none","to":"a/b &?","data":{"id":"e2"}}
{"type":"Leaf","data":{"id":"l1"}}
{"edge":"Copies","from":{"type":"Leaf","id":"l1"},"to":{"type":"Leaf","id":"l1"},"data":{"id":"c1","scan":"` + base64.StdEncoding.EncodeToString([]byte("copied")) + `"}}
`
	first, err := g.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Merge})
	if err != nil {
		t.Fatal(err)
	}
	srv := served(t, g, servedtest.Reader)
	at := func(pairs ...string) string {
		q := url.Values{"entity": {"node"}, "type": {"Doc"}, "id": {"a/b &?"}, "property": {"photo"}}
		for i := 0; i < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return srv.URL + "/graphs/people/blob?" + q.Encode()
	}
	tag := `"` + first.Head.ID + `"`

	resp, b := fetch(t, "GET", at())
	if resp.StatusCode != 200 || !bytes.Equal(b, page) || resp.Header.Get("ETag") != tag || resp.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("whole: %s %v", resp.Status, resp.Header)
	}
	// A browser that opens the URL must neither display the bytes nor run them.
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
		"Content-Disposition": "attachment; filename=photo", "Cache-Control": "private, no-cache",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	resp, b = fetch(t, "HEAD", at())
	if resp.StatusCode != 200 || len(b) != 0 || resp.ContentLength != int64(len(page)) {
		t.Errorf("head: %s %d bytes of %d", resp.Status, len(b), resp.ContentLength)
	}
	for _, part := range []struct {
		name   string
		header []string
		status int
		want   []byte
		of     string
	}{
		{"the beginning", []string{"Range: bytes=0-3"}, 206, page[:4], "bytes 0-3/1040"},
		{"the end", []string{"Range: bytes=-7"}, 206, page[len(page)-7:], "bytes 1033-1039/1040"},
		{"from a place on", []string{"Range: bytes=1030-"}, 206, page[1030:], "bytes 1030-1039/1040"},
		{"beyond the end", []string{"Range: bytes=1030-99999"}, 206, page[1030:], "bytes 1030-1039/1040"},
		{"of the same commit", []string{"Range: bytes=0-3", "If-Range: " + tag}, 206, page[:4], "bytes 0-3/1040"},
		{"of another commit", []string{"Range: bytes=0-3", `If-Range: "x"`}, 200, page, ""},
		{"if it is the same", []string{"If-Match: " + tag}, 200, page, ""},
		{"if it is one of two", []string{`If-Match: "y", ` + tag}, 200, page, ""},
		{"if it is one of two lines", []string{`If-Match: "y"`, "If-Match: " + tag}, 200, page, ""},
		{"if there is any", []string{"If-Match: *"}, 200, page, ""},
		{"that is held", []string{`If-None-Match: "y", ` + tag}, 304, nil, ""},
		{"that is not held", []string{`If-None-Match: "y"`}, 200, page, ""},
	} {
		resp, b := fetch(t, "GET", at(), part.header...)
		if resp.StatusCode != part.status || !bytes.Equal(b, part.want) || resp.Header.Get("Content-Range") != part.of {
			t.Errorf("part %s: %s %q %q", part.name, resp.Status, resp.Header.Get("Content-Range"), b)
		}
	}
	resp, b = fetch(t, "GET", at(), "Range: bytes=0-3,10-13")
	_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || resp.StatusCode != 206 {
		t.Fatalf("two parts: %s %v %v", resp.Status, resp.Header, err)
	}
	parts := multipart.NewReader(bytes.NewReader(b), params["boundary"])
	for _, want := range [][]byte{page[:4], page[10:14]} {
		p, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(p); !bytes.Equal(got, want) {
			t.Errorf("a part is %q, want %q", got, want)
		}
	}
	for _, bad := range []struct {
		name   string
		url    string
		header []string
		status int
		want   string
	}{
		{"range", at(), []string{"Range: bytes=2000-"}, 416, `no requested byte is within the bytes */1040`},
		{"unit", at(), []string{"Range: bytes=x"}, 416, `"code":"bad_request"`},
		{"other version", at(), []string{`If-Match: "x"`}, 412,
			`"precondition_failure":{"expected":"x","actual":"` + first.Head.ID + `"}`},
		{"weak tag", at(), []string{"If-Match: W/" + tag}, 412, `header If-Match: the blob is at commit`},
		{"empty condition", at(), []string{`If-Match: ""`}, 400, `header If-Match: found an empty text`},
		{"no entity", at("id", "nope"), nil, 404, `node Doc \"nope\" not found`},
		{"wrong id of a composite key", at("type", "Page", "id", "none-1"), nil, 404, `node Page \"none-1\" not found; the id of a Page is a JSON array of strings, [\"<doc>\",\"<number>\"], with the values of its key`},
		{"unknown id of a composite key", at("type", "Page", "id", `["none","1"]`), nil, 404, `node Page \"[\\\"none\\\",\\\"1\\\"]\" not found","code"`},
		{"null", at("id", "none"), nil, 404, `blob of node Doc \"none\" not found`},
		{"no type", at("type", "Dok"), nil, 404, `node type \"Dok\" not found`},
		{"no edge type", at("entity", "edge"), nil, 404, `edge type \"Doc\" not found`},
		{"no property", at("property", "foto"), nil, 404, `property of Doc \"foto\" not found`},
		{"no blob", at("property", "name"), nil, 400, `property: Doc.name is of type String, expected a Blob`},
		{"entity", at("entity", "thing"), nil, 400, `entity: found \"thing\", expected one of node, edge`},
		{"id", at("id", ""), nil, 400, `id: missing`},
		{"branch", at("branch", "nope"), nil, 404, `branch \"nope\" not found`},
	} {
		resp, b := fetch(t, "GET", bad.url, bad.header...)
		if resp.StatusCode != bad.status || !strings.Contains(string(b), bad.want) || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %s %s %v", bad.name, resp.Status, b, resp.Header)
		}
	}
	if resp, b := fetch(t, "GET", at("entity", "edge", "type", "Cites", "id", "e1", "property", "scan")); resp.StatusCode != 200 || string(b) != "scanned" {
		t.Errorf("of an edge: %s %s", resp.Status, b)
	}
	if resp, b := fetch(t, "GET", at("entity", "edge", "type", "Copies", "id", "c1", "property", "scan")); resp.StatusCode != 200 || string(b) != "copied" {
		t.Errorf("of an edge with interfaces at its ends: %s %s", resp.Status, b)
	}
	if resp, b := fetch(t, "GET", at("entity", "edge", "type", "Cites", "id", "e2", "property", "scan")); resp.StatusCode != 404 {
		t.Errorf("of an edge without: %s %s", resp.Status, b)
	}
	if _, err := g.Load(t.Context(), strings.NewReader(`{"type":"Doc","data":{"name":"a/b &?","photo":""}}`), engine.LoadOptions{Mode: engine.Merge}); err != nil {
		t.Fatal(err)
	}
	if resp, b := fetch(t, "GET", at()); resp.StatusCode != 200 || len(b) != 0 || resp.Header.Get("ETag") == tag {
		t.Errorf("empty: %s %q %v", resp.Status, b, resp.Header)
	}
	if resp, b := fetch(t, "GET", at("snapshot", first.Head.ID), "Range: bytes=0-3"); resp.StatusCode != 206 || !bytes.Equal(b, page[:4]) {
		t.Errorf("of a snapshot: %s %q", resp.Status, b)
	}
	if resp, b := fetch(t, "GET", served(t, g, servedtest.Bot).URL+"/graphs/people/blob?entity=node&type=Doc&id=none&property=photo"); resp.StatusCode != 403 {
		t.Errorf("denied: %s %s", resp.Status, b)
	}
}
