package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// quiet is a connection that drops all messages.
type quiet struct{ jsonrpc2.Conn }

func (quiet) Notify(context.Context, string, any) error { return nil }
func (quiet) Call(context.Context, string, any, any) (jsonrpc2.ID, error) {
	return jsonrpc2.ID{}, nil
}

// newTestServer returns a server without a connection and without its loops.
func newTestServer() *server {
	return &server{
		conn: quiet{}, ref: defaultRef, docs: map[string]*document{}, projects: map[string]*project{},
		disk: disk{map[string]*diskFile{}}, published: map[string][]finding{}, changed: map[string]bool{},
		check: make(chan struct{}, 1), survey: make(chan struct{}, 1),
	}
}

// openProject writes a project and opens its two sources.
func openProject(t testing.TB, s *server, dir, schema, queries string) (pg, gq string) {
	for name, text := range map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  g: { schema: s.pg, queries: [q.gq] }\n", "s.pg": schema, "q.gq": queries,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pg, gq = uriOf(filepath.Join(dir, "s.pg")), uriOf(filepath.Join(dir, "q.gq"))
	for uri, text := range map[string]string{pg: schema, gq: queries} {
		var p didOpenParams
		p.TextDocument.URI, p.TextDocument.Text = uri, text
		if _, err := s.didOpen(&p); err != nil {
			t.Fatal(err)
		}
	}
	return pg, gq
}

// run does the work of the loops once.
func (s *server) run() {
	for path := range maps.Clone(s.docs) {
		s.checkDocument(context.Background(), path)
	}
	s.surveyAll(context.Background())
}

// FuzzMessages sends every request about arbitrary texts and arbitrary parameters. A handler may return
// an error, and must not panic.
func FuzzMessages(f *testing.F) {
	const schema = "node Person { name: String @key  age: I32? }\nedge Knows: Person -> Person\n"
	f.Add("query q($n: String) { match { $p: Person { name: $n } $p knows $q } return { $q.name as n } limit 3 }", "", uint8(3), uint32(0), uint32(41), "{}")
	f.Add("query q() { match { $p: Person { name: \"😀\n", "$p.", uint8(1), uint32(0), uint32(30), `{"position":{"line":-1}}`)
	f.Add("// a", "}", uint8(0), uint32(9), uint32(9), `[1]`)
	f.Add("node A { b: String", "@key(", uint8(9), uint32(0), uint32(9), `{"textDocument":{"uri":"file:///%zz"}}`)
	names := slices.Sorted(maps.Keys(methods))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, insert string, method uint8, line, character uint32, raw string) {
		if len(text) > 1<<12 || len(insert) > 1<<10 {
			t.Skip("long texts take long and show nothing else")
		}
		s := newTestServer()
		pg, gq := openProject(t, s, dir, schema, text)
		at := Position{line % 50, character % 200}
		for _, uri := range []string{pg, gq, "untitled:x"} {
			var p didChangeParams
			p.TextDocument.URI, p.TextDocument.Version = uri, 2
			p.ContentChanges = []contentChange{{&Range{at, at}, insert}}
			_, _ = s.didChange(&p) // the third document is not open
		}
		s.run()
		for _, uri := range []string{pg, gq, "untitled:x"} {
			params, err := json.Marshal(map[string]any{
				"textDocument": map[string]any{"uri": uri}, "position": at, "newName": strings.TrimSpace(insert),
				"range": Range{Position{}, at}, "context": map[string]any{"includeDeclaration": true},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if strings.HasPrefix(name, "textDocument/did") || name == "initialized" {
					continue
				}
				result, err := methods[name](s, params)
				if err == nil {
					if _, err := json.Marshal(result); err != nil {
						t.Errorf("%s: the result has no JSON: %v", name, err)
					}
				}
			}
		}
		_, _ = methods[names[int(method)%len(names)]](s, json.RawMessage(raw)) // parameters that do not fit are an error
	})
}
