package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
)

// TestPagesAcrossStarts reads a page from one server and the rest from its successor, over MCP
// and in both modes. The key of page tokens is stored in the data folder.
func TestPagesAcrossStarts(t *testing.T) {
	storage := newStore(t)
	for mode, threshold := range map[string]int{"per query": 100, "meta": 22} {
		limits := func(rows int) func(*server.Options) {
			return func(o *server.Options) {
				o.Cluster.Graphs[0].MetaThreshold, o.Cluster.Graphs[0].MaxRows = threshold, rows
			}
		}
		call := func(session *mcp.ClientSession, token string) (got struct {
			read
			Next string `json:"next_page_token"`
		}) {
			name, args := "symbols_in_file", map[string]any{"params": map[string]any{"file": "stock/stock.go"}}
			if mode == "meta" {
				name, args["name"] = "stored_query_run", name
			}
			if token != "" {
				args["page_token"] = token
			}
			callTool(t, session, name, args, &got)
			return got
		}
		var want, rows []map[string]any
		var token string
		t.Run(mode+", the whole", func(t *testing.T) {
			session := serve(t, storage, limits(1000)).connect(t, devToken)
			want = call(session, "").Rows
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			named := func(name string) bool {
				return slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == name })
			}
			if meta := mode == "meta"; named("stored_query_list") != meta || named("stored_query_run") != meta || named("callers") == meta {
				t.Errorf("the tools are %v", tools.Tools)
			}
			if said := session.InitializeResult().Instructions; strings.Contains(said, "stored_query_list finds") != (mode == "meta") || strings.Contains(said, "%") {
				t.Errorf("the instructions are %s", said)
			}
		})
		t.Run(mode+", a page", func(t *testing.T) {
			first := call(serve(t, storage, limits(2)).connect(t, devToken), "")
			rows, token = first.Rows, first.Next
		})
		t.Run(mode+", the rest", func(t *testing.T) {
			session := serve(t, storage, limits(3)).connect(t, devToken)
			for token != "" {
				next := call(session, token)
				rows, token = append(rows, next.Rows...), next.Next
			}
		})
		if !slices.EqualFunc(rows, want, func(a, b map[string]any) bool { return a["path"] == b["path"] && len(a) == len(b) }) || len(want) < 4 {
			t.Errorf("%s: the pages are %v, want %v", mode, rows, want)
		}
	}
	info, err := os.Stat(filepath.Join(storage, seal.KeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
}
