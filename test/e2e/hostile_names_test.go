package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostileNames are names in the form that they have in the path of a URL. None of them is the name
// of a graph, a query or a branch.
var hostileNames = []string{
	"..", ".", "../..", "%2e%2e", "%2E%2e", ".%2e", "%2e%2e%2f%2e%2e", "..%2f..%2f..%2fetc%2fpasswd", "..%5c..%5cwindows", `..\..`,
	"%252e%252e%252f", "..;", "..%3b", "code%2f..", "code%2f", "%2fcode", "%2fetc%2fpasswd", "code%5c", "file:%2f%2f%2fetc",
	"%00", "code%00", "code%00.json", "%00code", "code%0a", "%0d%0aX-Forged:%20yes", "%0d%0a%0d%0amsg=forged", "%1b%5b2J%1b%5b31m", "%c2%9b31m", "%7f",
	"c%d0%bede", "code%e2%80%8b", "%ef%bc%8e%ef%bc%8e", "%e2%80%ae", "code%cc%81", "co%ef%bd%84e", "%ff%fe", "%c0%ae%c0%ae", "%ed%a0%80", "code%20", "%20code", "CODE", "Code",
	"CON", "nul", "aux.txt", "COM1", "LPT1%3a", "con%20", "a.", "desktop.ini", "~", "~root", "-rf", "$(id)", "%60id%60", "%7b%7b7*7%7d%7d", "%25s%25n", "'%20or%20'1'='1", "%22%3b--",
	"__proto__", "constructor", "*", "%3f", "%23", "null", "undefined", "0", "-1", "graphs", "data", ".git", ".env", "%",
	strings.Repeat("a", 300), strings.Repeat("%2e%2e%2f", 1000), strings.Repeat("a", 60_000), strings.Repeat("a", 200_000),
}

// TestHostileNames asks for graphs and queries by names that are paths, terminal escape codes,
// look-alikes or far too long. The server must find none of them.
func TestHostileNames(t *testing.T) {
	b := besiege(t)
	var attacks []attack
	for _, name := range hostileNames {
		shown := name
		if len(shown) > 40 {
			shown = fmt.Sprintf("%s… of %d bytes", name[:40], len(name))
		}
		for _, path := range []string{"/graphs/%s/query", "/graphs/%s/mcp", "/graphs/%s", "/%s", "/graphs/code/%s", "/graphs/code/queries/%s", "/graphs/%s/queries/callers", "/graphs/code/load/ndjson?mode=merge&branch=%s"} {
			contentType := asJSON
			if strings.Contains(path, "ndjson") {
				contentType = "application/x-ndjson"
			}
			// Some paths exist and answer that they need another method.
			want := []int{400, 404, 405, 431}
			attacks = append(attacks, attack{fmt.Sprintf(path, shown), b.request(fmt.Sprintf(path, name), contentType, ""), want})
		}
	}
	b.repel(t, attacks)
}

// TestHostileBranches creates, uses and deletes branches by every name. Valid names must become
// branches, and no name may become a file.
func TestHostileBranches(t *testing.T) {
	b := besiege(t)
	dir := b.cmd.Args[2]
	names := []string{"", "/", "a/", "/a", "a//b", "a/../b", "a\x00b", "a\nb", "a\u0085b", "\u202e", "ａ", "a b", `a\b`, strings.Repeat("a", 201), strings.Repeat("a/", 400_000)}
	for _, name := range hostileNames {
		if plain, err := url.PathUnescape(name); err == nil {
			names = append(names, plain)
		}
	}
	before, known := entries(t, filepath.Dir(dir)), tree(t, dir)
	made := []string{}
	for _, name := range names {
		refused := b.tool(t, "branch_create", map[string]any{"name": name})
		body, err := json.Marshal(map[string]any{"query": `query q() { match { $s: Symbol } return { count($s) as n } }`, "branch": name})
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.exchange(b.request(overREST, asJSON, string(body)))
		want := []int{http.StatusNotFound, http.StatusBadRequest}
		if !refused || name == "" {
			want = []int{http.StatusOK}
		}
		if err == nil {
			err = r.check(want...)
		}
		if err != nil {
			t.Errorf("a read on branch %.60q: %v", name, err)
		}
		b.tool(t, "branch_merge", map[string]any{"source": name, "dry_run": true})
		b.tool(t, "graph_load", map[string]any{"data": "", "mode": "merge", "branch": "x", "from": name})
		if !refused {
			made = append(made, name)
			if b.tool(t, "graph_load", map[string]any{"data": `{"type":"Note","data":{"slug":"s","text":"t","created":"2026-01-01T00:00:00Z"}}`, "mode": "merge", "branch": name}) {
				t.Errorf("nothing can be written to branch %q", name)
			}
		}
	}
	if !slices.Contains(made, "CON") || !slices.Contains(made, "-rf") || slices.Contains(made, "..") || slices.Contains(made, ".") {
		t.Errorf("made were %q", made)
	}
	for path := range tree(t, dir) {
		if !known[path] && slices.ContainsFunc(made, func(name string) bool { return strings.EqualFold(filepath.Base(path), name) }) {
			t.Errorf("a branch has become the file %s", path)
		}
	}
	if after := entries(t, filepath.Dir(dir)); !slices.Equal(before, after) {
		t.Errorf("the folder of the cluster's folder had %q before the test, and has %q after it", before, after)
	}
	for _, name := range made {
		if b.tool(t, "branch_delete", map[string]any{"name": name}) {
			t.Errorf("branch %q cannot be deleted", name)
		}
	}
}

// tool calls a tool over MCP and reports whether the server refused the call.
func (b *besieged) tool(t *testing.T, name string, arguments any) (refused bool) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.exchange(b.request(overMCP, asJSON, string(body)))
	if err == nil {
		err = r.check(http.StatusOK, http.StatusBadRequest)
	}
	if err != nil {
		t.Errorf("%s %.100v: %v", name, arguments, err)
	}
	return r.refused()
}

// refused reports whether an answer is a refusal. Over MCP a refusal may have status 200.
func (r reply) refused() bool {
	return r.status != http.StatusOK || strings.Contains(string(r.body), `"isError":true`) || strings.Contains(string(r.body), `"error":{`)
}

// tree returns all files and folders below dir.
func tree(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		found[path] = true
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the store may remove files during the walk
		t.Fatal(err)
	}
	return found
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}
