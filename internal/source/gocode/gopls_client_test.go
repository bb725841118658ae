package gocode

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// position is a place in a file, as the protocol of language servers counts: from 0, and characters in UTF-16.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// location is a place in a file.
type location struct {
	URI   string `json:"uri"`
	Range struct {
		Start position `json:"start"`
	} `json:"range"`
}

// languageServer is a process of gopls.
type languageServer struct{ conn jsonrpc2.Conn }

// startGopls starts gopls in a folder.
func startGopls(t *testing.T, dir string, env []string) *languageServer {
	t.Helper()
	cmd := exec.Command(os.Getenv("OMNIGRAPH_TEST_GOPLS"), "serve")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &languageServer{jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(pipes{out, in}))}
	s.conn.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() != "workspace/configuration" {
			return nil, nil
		}
		var asked struct {
			Items []any `json:"items"`
		}
		err := json.Unmarshal(req.Params(), &asked)
		return make([]any, len(asked.Items)), err
	})
	t.Cleanup(func() {
		s.call(t, "shutdown", nil, nil)
		_ = s.conn.Notify(context.Background(), "exit", nil) // the process may have ended
		_ = cmd.Wait()
	})
	s.call(t, "initialize", map[string]any{
		"rootUri":          "file://" + dir,
		"workspaceFolders": []any{map[string]any{"uri": "file://" + dir, "name": "module"}},
		"capabilities":     map[string]any{"workspace": map[string]any{"configuration": true, "workspaceFolders": true}},
	}, nil)
	if err := s.conn.Notify(context.Background(), "initialized", struct{}{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// pipes are the ends of the pipes to a process.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return p.in.Close() }

func (s *languageServer) call(t *testing.T, method string, params, result any) {
	t.Helper()
	if _, err := s.conn.Call(context.Background(), method, params, result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// at returns the parameters of a call about a place.
func at(file string, p position) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": "file://" + file}, "position": p, "context": map[string]any{"includeDeclaration": false}}
}

// references returns the places that refer to what is declared at a place.
func (s *languageServer) references(t *testing.T, file string, p position) []location {
	t.Helper()
	var found []location
	s.call(t, "textDocument/references", at(file, p), &found)
	return found
}

// definitions returns the places that declare what a place refers to.
func (s *languageServer) definitions(t *testing.T, l location) []location {
	t.Helper()
	var found []location
	s.call(t, "textDocument/definition", at(l.file(), l.Range.Start), &found)
	return found
}

// implementations returns the types that implement the interface at a place, or the interfaces of the type.
func (s *languageServer) implementations(t *testing.T, file string, p position) []location {
	t.Helper()
	var found []location
	s.call(t, "textDocument/implementation", at(file, p), &found)
	return found
}

// callers returns the functions that call the function at a place.
func (s *languageServer) callers(t *testing.T, file string, p position) []location {
	t.Helper()
	var items []json.RawMessage
	s.call(t, "textDocument/prepareCallHierarchy", at(file, p), &items)
	var all []location
	for _, item := range items {
		var calls []struct {
			From struct {
				URI   string `json:"uri"`
				Range struct {
					Start position `json:"start"`
				} `json:"range"`
			} `json:"from"`
			Ranges []struct {
				Start position `json:"start"`
			} `json:"fromRanges"`
		}
		s.call(t, "callHierarchy/incomingCalls", map[string]any{"item": item}, &calls)
		for _, c := range calls {
			for _, r := range c.Ranges {
				l := location{URI: c.From.URI}
				l.Range.Start = r.Start
				all = append(all, l)
			}
		}
	}
	return all
}

// file returns the path of the file of a location.
func (l location) file() string { return strings.TrimPrefix(l.URI, "file://") }
