package main

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzServerAnswer checks that no answer of a server makes a verb panic or send requests without
// end.
func FuzzServerAnswer(f *testing.F) {
	for _, body := range []string{
		"", "null", "[]", "{}", "<html>", `{"columns":["a"],"rows":[{"a":1}],"truncated":true,"next_page_token":"t"}`,
		`{"columns":null,"rows":[null,3],"row_count":7}`, `{"commits":[{"graph_commit_id":"c"}],"next_before":5}`,
		`{"changes":[{"kind":"node","type":{"id":"1","name":"T"},"id":"a","op":"insert","before":null,"after":{"properties":{"p":1}}}],"next_page_token":null}`,
		`{"branches":["main",""],"heads":[{"name":"main"}]}`, `{"error":"e","merge_conflicts":[{}],"merge_conflict_count":-3}`,
		`{"error":"e","diagnostics":[{"code":"T1","severity":"error","message":"m"}]}`, `{"schema_source":"node A { a: String @key }","steps":[{}],"branch_delete_error":"e"}`,
		`{"error":"e","resource_limit":{"resource":"bytes","limit":1,"actual":2}}`,
	} {
		for _, status := range []uint16{200, 302, 400, 409, 413} {
			f.Add(status, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		if status = status%500 + 100; status == http.StatusTooManyRequests || status < 200 {
			status = 200 // 429 is retried after a wait, and 1xx is not an answer
		}
		asked := 0
		c, err := client.New("http://127.0.0.1:1", client.WithHTTPClient(&http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.Body != nil {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			if asked++; asked > 20 {
				t.Fatalf("the client sends %s %s again and again", req.Method, req.URL)
			}
			return &http.Response{StatusCode: int(status), ProtoMajor: 1, ContentLength: int64(len(body)), Header: http.Header{"Etag": {`"c"`}},
				Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
		})}))
		if err != nil {
			t.Fatal(err)
		}
		src := &source{client: c, graph: c.Graph("g")}
		ctx := t.Context()
		s := &statement{file: "q.gq", text: "query q() {}", name: "q"}
		show := func(r *report, err error) {
			asked = 0
			if err != nil {
				printError(io.Discard, err)
				_ = exitCode(err)
			}
			if r == nil {
				return
			}
			for _, format := range formats {
				_ = r.write(io.Discard, format)
			}
		}
		if a, err := src.Query(ctx, s); err != nil {
			show(nil, err)
		} else {
			show(rowsReport(a), nil)
		}
		if a, err := src.Invoke(ctx, s, engine.WriteOptions{}); err != nil {
			show(nil, err)
		} else {
			show(invokeReport(a), nil)
		}
		if a, err := src.Changes(ctx, "c", client.ChangeQuery{}); err != nil {
			show(nil, err)
		} else {
			show(changesReport(a), nil)
		}
		if a, err := src.Merge(ctx, "a", "b", true, engine.MergeOptions{}); err != nil {
			show(nil, err)
		} else {
			show(mergeReport(a))
		}
		if a, err := src.Load(ctx, &loadData{r: bytes.NewReader(nil)}, engine.LoadOptions{Mode: engine.Append}); err != nil {
			show(nil, err)
		} else {
			show(loadReport(a), nil)
		}
		_, err = src.Commits(ctx, "", "", engine.CommitRange{})
		show(nil, err)
		_, err = src.Branches(ctx)
		show(nil, err)
		_, err = src.graph.Snapshot(ctx)
		show(nil, err)
		_, err = src.ApplySchema(ctx, &schemaFile{"s.pg", "node A {}"}, engine.SchemaOptions{})
		show(nil, err)
		_, err = src.Blob(ctx, operations.BlobPlace{}, engine.Target{})
		show(nil, err)
		_, err = src.Export(ctx, &export{format: "ndjson", w: io.Discard})
		show(nil, err)
	})
}
