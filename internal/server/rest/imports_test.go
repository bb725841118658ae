package rest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	slowtest "github.com/omnigraph-go/omnigraph/internal/slow"
)

// importer sends tables and requests about them.
type importer struct {
	t   *testing.T
	url string
}

func newImporter(t *testing.T) *importer {
	t.Helper()
	store, err := uploads.New(uploads.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return &importer{t, servedWith(t, rest.Options{Uploads: map[string]*uploads.Store{"people": store}})}
}

// do sends a request with headers, each "Name: value".
func (i *importer) do(method, to, body string, headers ...string) (*http.Response, string) {
	i.t.Helper()
	req, err := http.NewRequest(method, i.url+to, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		req.Header.Set(name, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return res, string(b)
}

// upload sends a file, and returns the path of the upload.
func (i *importer) upload(content string) string {
	i.t.Helper()
	res, body := i.do("POST", "/uploads", "", "Upload-Length: "+fmt.Sprint(len(content)))
	if res.StatusCode != http.StatusCreated {
		i.t.Fatal(res.Status, body)
	}
	up := "/uploads/" + path.Base(res.Header.Get("Location"))
	if res, body := i.do("PATCH", up, content, "Upload-Offset: 0", "Content-Type: application/offset+octet-stream"); res.StatusCode != http.StatusNoContent {
		i.t.Fatal(res.Status, body)
	}
	return up
}

// infer proposes a map for an upload.
func (i *importer) infer(up, file string) *client.ImportProposal {
	i.t.Helper()
	res, body := i.do("POST", up+"/infer", `{"file_name":"`+file+`"}`)
	var p client.ImportProposal
	if res.StatusCode != http.StatusOK || json.Unmarshal([]byte(body), &p) != nil {
		i.t.Fatal(res.Status, body)
	}
	return &p
}

// body returns the body of an import.
func (i *importer) body(b client.ImportBody) string {
	text, err := json.Marshal(b)
	if err != nil {
		i.t.Fatal(err)
	}
	return string(text)
}

// TestImportUpload proposes a map, tries it, and imports with it.
func TestImportUpload(t *testing.T) {
	i := newImporter(t)
	up := i.upload("Name;age;born;knows\nkit;31;23.05.1990;ada\n<b>lea</b>;29;17.01.1995;\n")
	p := i.infer(up, "people.csv")
	want := `{"sources":{"people.csv":[{"node":"Person","set":{"age":{"column":"age"},"born":{"column":"born","date":"02.01.2006"},"name":{"column":"Name"}}},` +
		`{"edge":"Knows","from":{"Person":{"name":{"column":"Name"}}},"to":{"Person":{"name":{"column":"knows"}}}}]}}`
	if p.Rows != 2 || p.Map != want || len(p.Columns) != 4 || p.Columns[2].Type != "Date" || !strings.Contains(p.SchemaSource, "node Person {") || p.Key[0] != "Name" {
		t.Fatalf("%+v", p)
	}
	try := client.ImportBody{FileName: "people.csv", Map: p.Map, NewEdges: true, DryRun: true} // Knows has no @unique
	if res, body := i.do("POST", up+"/import", i.body(try)); res.StatusCode != 200 || !strings.Contains(body, `"total_entities":3`) || !strings.Contains(body, `"dry_run":true`) {
		t.Fatal(res.Status, body)
	}
	try.DryRun = false
	for range 2 { // the key of the request makes the second a repetition
		if res, body := i.do("POST", up+"/import", i.body(try), "Idempotency-Key: k", "Omnigraph-Message: two people"); res.StatusCode != 200 || !strings.Contains(body, `"inserted":2`) || !strings.Contains(body, "two people") {
			t.Fatal(res.Status, body)
		}
	}
	if _, body := i.do("POST", "/query", `{"query":"query q() { match { $p: Person { name: \"kit\" } $p knows $q } return { $p.born, $q.name } }"}`); !strings.Contains(body, "1990-05-23") || !strings.Contains(body, "ada") {
		t.Error(body)
	}
}

// TestImportRefused checks what the routes refuse, and where they say the fault is.
func TestImportRefused(t *testing.T) {
	i := newImporter(t)
	good := `{"sources":{"f.csv":{"node":"Person","set":{"name":"name","age":"age"}}}}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("name,age\nx,1\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	body := func(name, text, mode string) string {
		return i.body(client.ImportBody{FileName: name, Map: text, Mode: mode, DryRun: true})
	}
	for _, tt := range []struct {
		name, content, route, body string
		status                     int
		want                       string
	}{
		{"a value", "name,age\nx,1\ny,old\n", "/import", body("f.csv", good, ""), 400, `"line_faults":[{"line":3,"field":"age","message":"\"old\": `},
		{"a row", "name,age\nx,1\ny\n", "/import", body("f.csv", good, ""), 400, `"line":3`},
		{"twice", "name,age\nx,1\nx,2\n", "/import", body("f.csv", good, ""), 409, `it is also in f.csv, line 2`},
		{"one that exists", "name,age\nada,1\n", "/import", body("f.csv", good, "append"), 409, `"line_faults":[{"line":2`},
		{"an end that is missing", "name,age\nada,1\n", "/import", body("f.csv", `{"sources":{"f.csv":{"edge":"Knows","from":{"Person":{"name":"name"}},"to":{"Person":{"name":"age"}}}}}`, "append"), 400, `"line_faults":[{"line":2,"field":"age"`},
		{"an unknown column", "name\nx\n", "/import", body("f.csv", good, ""), 400, "the file has no column age; its columns are name"},
		{"an unknown type", "name\nx\n", "/import", body("f.csv", `{"sources":{"f.csv":{"node":"Persona","set":{}}}}`, ""), 400, "did you mean Person"},
		{"no map", "name\nx\n", "/import", body("f.csv", `[`, ""), 400, `"diagnostics"`},
		{"two sources", "name\nx\n", "/import", body("f.csv", `{"sources":{"a.csv":{"node":"Person","set":{"name":"name"}},"b.csv":{"node":"Person","set":{"name":"name"}}}}`, ""), 400, "expected one source"},
		{"a database", "name\nx\n", "/import", body("f.csv", `{"database":"postgres://h/d","sources":{"a":{"read":{"table":"t"},"maps":{"node":"Person","set":{"name":"name"}}}}}`, ""), 400, "expected one source"},
		{"a format", "{}", "/import", body("f.csv", `{"sources":{"a":{"read":{"format":"json"},"maps":{"node":"Person","set":{"name":"name"}}}}}`, ""), 400, "expected csv or tsv"},
		{"a format that the library reads", "PAR1", "/import", body("f.csv", `{"sources":{"a":{"read":{"format":"parquet"},"maps":{"node":"Person","set":{"name":"name"}}}}}`, ""), 400, "use omnigraph import"},
		{"a name", "{}", "/infer", `{"file_name":"../x.json"}`, 400, "ends in .csv"},
		{"a mode", "name\nx\n", "/import", body("f.csv", good, "overwrite"), 400, "expected one of merge, patch, append"},
		{"packed", packed.String(), "/infer", `{"file_name":"f.csv"}`, 400, "decompress it first"},
		{"packed, with a map", packed.String(), "/import", body("f.csv", good, ""), 400, "decompress it first"},
		{"many columns", strings.Repeat("c,", 1001) + "c", "/infer", `{"file_name":"f.csv"}`, 400, "both called c"},
		{"very many columns", strings.Repeat(",", 70_000), "/infer", `{"file_name":"f.csv"}`, 400, "more than 65536 fields"},
		{"no columns", "", "/infer", `{"file_name":"f.csv"}`, 400, "the file is empty"},
		{"Parquet", "PAR1\x00\x00PAR1", "/infer", `{"file_name":"f.parquet"}`, 400, "use omnigraph import"},
		{"Parquet, with a map", "PAR1\x00\x00PAR1", "/import", body("f.parquet", good, ""), 400, "use omnigraph import"},
		{"too many columns", manyColumns(), "/infer", `{"file_name":"f.csv"}`, 413, `"resource":"columns of the file"`},
	} {
		up := i.upload(tt.content)
		if res, body := i.do("POST", up+tt.route, tt.body); res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s, expected %d with %s", tt.name, res.StatusCode, body, tt.status, tt.want)
		}
		i.do("DELETE", up, "")
	}
	up := i.upload("name,age\nx,1\n")
	for _, tt := range []struct {
		route, body, actor string
		status             int
	}{
		{"/infer", `{"file_name":"f.csv"}`, servedtest.Drafter.ID, 404},
		{"/import", body("f.csv", good, ""), servedtest.Drafter.ID, 404},
	} {
		if res, body := i.do("POST", up+tt.route, tt.body, "Actor: "+tt.actor); res.StatusCode != tt.status {
			t.Errorf("%s as %s: %s %s", tt.route, tt.actor, res.Status, body)
		}
	}
	res, opened := i.do("POST", "/uploads", "", "Upload-Length: 5")
	if res, body := i.do("POST", "/uploads/"+path.Base(res.Header.Get("Location"))+"/infer", `{"file_name":"f.csv"}`); res.StatusCode != 409 || !strings.Contains(body, "not complete") {
		t.Error(opened, res.Status, body)
	}
}

// manyColumns returns a header with more columns than a server reads.
func manyColumns() string {
	var b strings.Builder
	for n := range 1001 {
		fmt.Fprintf(&b, "c%d,", n)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// TestLongImport proposes a map for a large file, and imports it, which takes longer than the time limit of calls and than the server gives other
// requests and answers.
func TestLongImport(t *testing.T) {
	slowtest.Test(t)
	store, err := uploads.New(uploads.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	i := &importer{t, servedWith(t, rest.Options{MaxPause: time.Minute, Uploads: map[string]*uploads.Store{"people": store}}, func(c *servedgraph.Config) { c.Limits.Timeout = time.Millisecond })}
	const rows = 100_000
	var b strings.Builder
	b.WriteString("name\n")
	for n := range rows {
		fmt.Fprintf(&b, "p%d\n", n)
	}
	up := i.upload(b.String())
	if p := i.infer(up, "f.csv"); p.Rows != rows {
		t.Errorf("%d rows, want %d", p.Rows, rows)
	}
	in := client.ImportBody{FileName: "f.csv", Map: `{"sources":{"f.csv":{"node":"Person","set":{"name":"name"}}}}`}
	if res, body := i.do("POST", up+"/import", i.body(in)); res.StatusCode != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`"inserted":%d`, rows)) {
		t.Error(res.Status, body)
	}
}
