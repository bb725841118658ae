package rest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestArrow requests rows and exports with different headers Accept. The answer must be an Arrow
// stream with the expected number of rows, or have the expected status.
func TestArrow(t *testing.T) {
	h := rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, servedtest.Config(t))}, rest.Options{})
	const names = `{"query":"query q() { match { $p: Person } return { $p.name as name, $p.age as age } order { $p.name } }"`
	for _, tt := range []struct {
		name, path, accept, body string
		status, rows             int
		truncated                bool
		json                     bool // the answer is JSON
	}{
		{name: "a text", path: "query", accept: client.MediaArrow, body: names + `}`, status: 200, rows: 3},
		{name: "a page", path: "query", accept: client.MediaArrow, body: names + `,"max_rows":1}`, status: 200, rows: 1, truncated: true},
		{name: "no preference", path: "query", accept: "*/*", body: names + `}`, status: 200, json: true},
		{name: "a lower preference", path: "query", accept: client.MediaArrow + ";q=0.5, application/json", body: names + `}`, status: 200, json: true},
		{name: "a higher preference", path: "query", accept: "application/json;q=0.5, " + client.MediaArrow, body: names + `}`, status: 200, rows: 3},
		{name: "refused", path: "query", accept: client.MediaArrow + ";q=0", body: names + `}`, status: 200, json: true},
		{name: "a stored read", path: "queries/everyone", accept: client.MediaArrow, status: 200, rows: 3},
		{name: "a stored mutation", path: "queries/add_person", accept: client.MediaArrow, body: `{"params":{"name":"dan"},"dry_run":true}`, status: 200, json: true},
		{name: "a faulty text", path: "query", accept: client.MediaArrow, body: `{"query":"query q() { match { $p: Persn } return { $p } }"}`, status: 400, json: true},
		{name: "an unknown query", path: "queries/nothing", accept: client.MediaArrow, status: 404, json: true},
		{name: "an export", path: "export", accept: client.MediaArrow, body: `{"type_names":["Person"]}`, status: 200, rows: 3},
		{name: "an export of edges", path: "export", accept: client.MediaArrow, body: `{"type_names":["Knows"]}`, status: 200, rows: 1},
		{name: "an export of all", path: "export", accept: client.MediaArrow, status: 400, json: true},
		{name: "an export of nothing known", path: "export", accept: client.MediaArrow, body: `{"type_names":["Persn"]}`, status: 400, json: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/graphs/people/"+tt.path, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", tt.accept)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
			if w.Code != tt.status {
				t.Fatalf("found status %d, expected %d: %s", w.Code, tt.status, w.Body)
			}
			if tt.json {
				if media := w.Header().Get("Content-Type"); media != "application/json" {
					t.Errorf("the answer has the media type %s", media)
				}
				return
			}
			in, err := ipc.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			commit, _ := in.Schema().Metadata().GetValue(client.ArrowCommit)
			if tag := w.Header().Get("ETag"); commit == "" || tag != `"`+commit+`"` || w.Header().Get("Content-Type") != client.MediaArrow {
				t.Errorf("the stream is of the commit %q, and the headers are %v", commit, w.Header())
			}
			rows, last := int64(0), arrow.Metadata{}
			for in.Next() {
				rows += in.RecordBatch().NumRows()
				last = in.RecordBatch().(arrow.RecordBatchWithMetadata).Metadata()
			}
			truncated, _ := last.GetValue(client.ArrowTruncated)
			if in.Err() != nil || rows != int64(tt.rows) || truncated == "true" != tt.truncated {
				t.Errorf("found %d rows, truncated %q, %v; expected %d, %t", rows, truncated, in.Err(), tt.rows, tt.truncated)
			}
		})
	}
}

// TestArrowExportFails lets an export fail before the server has sent a part of it, and after that.
func TestArrowExportFails(t *testing.T) {
	line := `{"type":"Person","data":{"id":"p","name":"p","age":1}}` + "\n"
	for _, tt := range []struct {
		lines  int
		status int // 0 if the connection must break
	}{{0, 500}, {100, 500}, {5000, 0}} {
		g := exporter{servedtest.Config(t).Graph, func(_ context.Context, w io.Writer) error {
			if _, err := io.WriteString(w, strings.Repeat(line, tt.lines)); err != nil {
				return err
			}
			return errors.New("the disk broke")
		}}
		srv := served(t, g, servedtest.Writer)
		c, err := client.New(srv.URL, client.WithRetries(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Graph("people").ExportArrow(t.Context(), client.ExportBody{TypeNames: []string{"Person"}})
		var refused *client.Error
		if tt.status > 0 {
			if !errors.As(err, &refused) || refused.Status != tt.status {
				t.Errorf("after %d lines: found %v, expected status %d", tt.lines, err, tt.status)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(new(bytes.Buffer), s); err == nil {
			t.Errorf("after %d lines: the stream ended without an error", tt.lines)
		}
		s.Close()
	}
}
