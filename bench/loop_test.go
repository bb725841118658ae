package bench

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// rpcLoop is a minimal handwritten server for the same calls. It decodes the message, looks up the
// query, calls the engine, and writes the rows twice, as structured content and as text. It has no
// host check, authentication, policy, limits, protocol versions or other methods, and it supports
// only strings and small integers.
type rpcLoop struct {
	graph   engine.Graph
	queries map[string]tool.StoredQuery
}

func (l *rpcLoop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var msg struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string `json:"name"`
			Arguments struct {
				Params struct {
					Path string `json:"path"`
				} `json:"params"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &msg); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := l.queries[msg.Params.Name]
	if q == nil || msg.Method != "tools/call" {
		http.Error(w, "no such query", http.StatusNotFound)
		return
	}
	res, err := l.graph.Query(r.Context(), q.Plan(), engine.Args{value.OfString(msg.Params.Arguments.Params.Path)}, engine.Target{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer res.Close()
	rows, n := []byte{'['}, 0
	for {
		batch, err := res.Next(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if batch == nil {
			break
		}
		for i := range batch.Len {
			if n > 0 {
				rows = append(rows, ',')
			}
			n++
			rows = append(rows, '{')
			for j, c := range res.Columns() {
				if j > 0 {
					rows = append(rows, ',')
				}
				rows = append(quoted(rows, c.Name), ':')
				rows = cell(rows, &batch.Columns[j], i)
			}
			rows = append(rows, '}')
		}
	}
	structured := quoted([]byte(`{"query_name":`), msg.Params.Name)
	structured = append(structured, `,"target":{"branch":"main","snapshot":null},"columns":[`...)
	for j, c := range res.Columns() {
		if j > 0 {
			structured = append(structured, ',')
		}
		structured = quoted(structured, c.Name)
	}
	structured = append(append(append(structured, `],"rows":`...), rows...), `],"row_count":`...)
	structured = strconv.AppendInt(structured, int64(n), 10)
	structured = quoted(append(structured, `,"graph_commit_id":`...), res.Commit())
	structured = append(structured, '}')
	out := append([]byte(`{"jsonrpc":"2.0","id":`), msg.ID...)
	out = quoted(append(out, `,"result":{"content":[{"type":"text","text":`...), string(structured))
	out = append(append(append(out, `}],"structuredContent":`...), structured...), "}}"...)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) // a failure means that the client has disconnected
}

func cell(dst []byte, c *engine.Column, i int) []byte {
	switch v := c.Value(i); v.Kind() {
	case value.Invalid:
		return append(dst, "null"...)
	case value.String:
		return quoted(dst, v.Str())
	case value.I32, value.I64, value.U32:
		return strconv.AppendInt(dst, v.Int(), 10)
	default:
		panic("bench: a column of another type")
	}
}

func quoted(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
