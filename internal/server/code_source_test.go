package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
)

// TestSourceOfAnswers changes code after it was read, and checks what the answers say about it.
func TestSourceOfAnswers(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outer, "shop")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.25\n")
	write("a.go", "package m\n\nfunc F() {}\n\nfunc G() { F() }\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")

	empty := t.TempDir()
	omnigraph(t, nil, "init", "--schema", "queries/code/schema.pg", "--store", filepath.Join(empty, "code"))
	within := func(folder string) *testServer {
		storage := t.TempDir()
		if err := os.CopyFS(storage, os.DirFS(empty)); err != nil {
			t.Fatal(err)
		}
		return serve(t, storage, func(o *server.Options) { o.Cluster.Graphs[0].Source = folder })
	}
	ts, other, none := within(outer), within(t.TempDir()), within("")
	request := func(ts *testServer, token, path string, body io.Reader) []byte {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(path, "/load") {
			r.Header.Set("Content-Type", "application/x-ndjson")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %s %s", path, err, res.Status, text)
		}
		return text
	}
	index := func(ts ...*testServer) {
		t.Helper()
		g, err := gocode.Read(t.Context(), gocode.Options{Dir: dir, Env: append(os.Environ(), "GOWORK=off", "GOPROXY=off"), Revision: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, ts := range ts {
			var data bytes.Buffer
			if _, err := g.WriteNDJSON(&data); err != nil {
				t.Fatal(err)
			}
			request(ts, devToken, "/load/ndjson?mode=overwrite", &data)
		}
	}
	ask := func(ts *testServer) client.ReadMore {
		t.Helper()
		var a client.ReadMore
		if err := json.Unmarshal(request(ts, devToken, "/queries/callers", strings.NewReader(`{"params":{"path":"example.com/m.F"}}`)), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if s := ask(newServer(t)).Source; s != nil {
		t.Errorf("a graph that was read without its folder: found %+v", s)
	}
	index(ts, other, none)
	for name, at := range map[string]*testServer{"below the one": other, "names no folder": none} {
		if s := ask(at).Source; s == nil || !strings.Contains(s.Unknown, name) || len(s.Indexed) != 12 || s.Dirty != nil {
			t.Errorf("%s: found %+v", name, s)
		}
	}
	check := func(step string, behind bool, dirty int, note string) {
		t.Helper()
		a := ask(ts)
		if s := a.Source; s == nil || s.Unknown != "" || s.Dirty == nil || *s.Dirty != dirty || s.Behind == nil || *s.Behind != behind || behind == (s.Indexed == s.Head) {
			t.Errorf("%s: found %+v", step, s)
		}
		if got := strings.Join(a.Notes, "\n"); !strings.Contains(got, note) || note == "" && got != "" {
			t.Errorf("%s: found the notes %q, want %q", step, got, note)
		}
	}
	check("as it was read", false, 0, "")
	write("a.go", "package m\n\nfunc F() {}\n\nfunc H() { F() }\n")
	check("a changed file", false, 1, `the code has changed since it was read: 1 files differ, such as a.go; read these files, or the branch "work/shop" if`)
	write("b.go", "package m\n")
	check("and a new one", false, 2, "a.go, b.go")
	git("add", ".")
	git("commit", "-qm", "two")
	check("committed", true, 2, "another commit is checked out; 2 files differ")
	index(ts)
	check("read again", false, 0, "")
	if err := os.Remove(filepath.Join(dir, "b.go")); err != nil {
		t.Fatal(err)
	}
	check("a removed file", false, 1, "such as b.go")

	session := ts.connect(t, devToken)
	var over client.ReadMore
	callTool(t, session, "callers", map[string]any{"params": map[string]any{"path": "example.com/m.F"}}, &over)
	if over.Source == nil || *over.Source.Dirty != 1 || len(over.Notes) != 1 {
		t.Errorf("over MCP: found %+v", over)
	}
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	if s := ask(ts).Source; s == nil || !strings.Contains(s.Unknown, "not there") || s.Dirty != nil {
		t.Errorf("without the folder: found %+v", s)
	}
}
