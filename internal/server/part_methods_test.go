package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// partMethods says how clerk meets each method of MCP, with the members of its params. A method in several lines is sent with each.
var partMethods = map[string]struct {
	how    meets
	params []string
}{
	"initialize":      {filtered, []string{`"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}`}},
	"server/discover": {filtered, []string{""}},
	"ping":            {elsewhere, []string{""}},
	"tools/list":      {filtered, []string{"", `"cursor":"x"`}},
	"tools/call": {filtered, []string{`"name":"everyone","arguments":{}`, `"name":"everyon","arguments":{}`, `"name":"graph_query","arguments":{"query":"query q() { match { $p: Person } return { $p.nam } }"}`,
		`"name":"type_describe","arguments":{"name":"Boxes"}`, `"name":"everyone","arguments":{"nothing":1}`}}, // TestPartOverMCP calls each
	"resources/list":           {filtered, []string{""}},
	"resources/templates/list": {elsewhere, []string{""}},
	"resources/read": {filtered, []string{`"uri":"omnigraph://schema"`, `"uri":"omnigraph://branches"`, `"uri":"omnigraph://gq-reference"`, `"uri":"omnigraph://catalog"`, `"uri":"omnigraph://proposals"`,
		`"uri":"omnigraph://branches/main"`, `"uri":"omnigraph://branches/proposed"`, `"uri":"omnigraph://nothing"`, `"uri":"skill://people/SKILL.md"`}},
	"skills/list":                      {filtered, []string{""}},
	"skills/get":                       {filtered, []string{`"uri":"skill://people/SKILL.md"`, `"uri":"skill://people/nothing"`}},
	"subscriptions/listen":             {filtered, nil}, // see TestPartListens
	"prompts/list":                     {filtered, []string{""}},
	"prompts/get":                      {filtered, []string{`"name":"write_query","arguments":{"intent":"boxes","types":"Person"}`, `"name":"write_query","arguments":{"intent":"boxes","types":"Persons"}`, `"name":"write_filter","arguments":{"type":"Person"}`, `"name":"write_filter","arguments":{"type":"Box"}`}},
	"notifications/initialized":        {elsewhere, []string{""}},
	"notifications/cancelled":          {elsewhere, []string{`"requestId":1`}},
	"notifications/progress":           {elsewhere, []string{`"progressToken":1,"progress":1`}},
	"notifications/roots/list_changed": {elsewhere, []string{""}},
	"completion/complete": {filtered, []string{`"ref":{"type":"ref/prompt","name":"write_filter"},"argument":{"name":"type","value":""}`, `"ref":{"type":"ref/prompt","name":"write_query"},"argument":{"name":"types","value":"Person, "}`,
		`"ref":{"type":"ref/resource","uri":"omnigraph://branches/{+name}"},"argument":{"name":"name","value":""}`, `"ref":{"type":"ref/prompt","name":"nothing"},"argument":{"name":"x","value":""}`}},
}

// TestPartMethods sends each method of MCP, in both kinds of protocol versions.
func TestPartMethods(t *testing.T) {
	w := newPartWorld(t)
	w.propose(t)
	m := &matrix{t: t, url: w.url + "/graphs/people"}
	for _, name := range mcp.Methods() {
		row, ok := partMethods[name]
		if !ok {
			t.Errorf("%s: say in partMethods how an actor with rights to a part of the graph meets it", name)
		}
		for _, params := range row.params {
			for _, version := range versions {
				_, subject, _ := strings.Cut(params, `":"`)
				subject, _, _ = strings.Cut(subject, `"`)
				a := m.rpc(clerk, version, name, subject, params)
				if text := fmt.Sprint(a.header, a.body); strings.Contains(strings.ToLower(text), canary) || a.status >= http.StatusInternalServerError || strings.Contains(text, "-32603") {
					t.Errorf("%s of %s with %s: %d %s", name, version, params, a.status, text)
				}
			}
		}
	}
	found := 0
	for _, name := range []string{"tools/list", "skills/list", "resources/list"} {
		if strings.Contains(strings.ToLower(m.rpc("act-admin", versions[0], name, "", "").body), canary) {
			found++
		}
	}
	if found == 0 {
		t.Error("the lists show no canary to anybody")
	}
}

// propose opens a proposal whose source has a canary in its name, and adds an entity with one.
func (w *partWorld) propose(t *testing.T) {
	t.Helper()
	w.must("act-admin", "POST", "/branches", `{"name":"proposed","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"canary-new\" } }","branch":"proposed"}`)
	w.must("act-admin", "POST", "/proposals", `{"source":"proposed","target":"main","title":"a canary sings"}`)
}

// TestPartListens subscribes to everything as clerk and writes what clerk may not see. The stream tells of the heads of main, which the log
// tells everybody, and of nothing else until there is a proposal of what clerk may see.
func TestPartListens(t *testing.T) {
	slow.Test(t)
	w := newPartWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const body = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["omnigraph://branches/main","omnigraph://proposals","omnigraph://schema","omnigraph://nothing"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/graphs/people/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer the-token-of-" + clerk}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {versions[1]}, "Mcp-Method": {"subscriptions/listen"},
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	until := func(what string) (told []string) {
		t.Helper()
		for lines.Scan() {
			if line := lines.Text(); strings.HasPrefix(line, "data: ") {
				told = append(told, line)
				if strings.Contains(strings.ToLower(line), canary) {
					t.Errorf("the stream says %s", line)
				}
				if strings.Contains(line, what) {
					return told
				}
			}
		}
		t.Fatalf("the stream ended without %s: %v, %v", what, told, lines.Err())
		return nil
	}
	until("acknowledged")
	w.propose(t)
	var told []string
	const heads = 6 // a look at the proposals is between two of so many looks at the heads, see proposalTicks
	for i := range heads {
		w.must("act-admin", "POST", "/mutate", fmt.Sprintf(`{"query":"query m() { insert CanaryBox { name: \"canary-%d\" } }"}`, i))
		told = append(told, until(`"uri":"omnigraph://branches/main"`)...)
	}
	w.must(clerk, "POST", "/branches", `{"name":"of-clerk","from":"main"}`)
	w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"cyd\", age: 20 } }","branch":"of-clerk"}`)
	w.must(clerk, "POST", "/proposals", `{"source":"of-clerk","target":"main","title":"a title"}`)
	if told = append(told, until(`"uri":"omnigraph://proposals"`)...); len(told) != heads+1 {
		t.Errorf("the stream tells of more than %d heads and one proposal: %v", heads, told)
	}
}

// studioPaths finds the paths in the source of the studio, and parts of paths.
var studioPaths = regexp.MustCompile("[\"`](/[a-z][^\"`]*)[\"`]")

// TestPartStudio tests that the pages of the studio send no request but those of the tables partRoutes and partMethods.
func TestPartStudio(t *testing.T) {
	besides := []string{"/studio/", "/studio/callback", "/studio/login.json", "/studio/faults.json"} // pages and files of the studio itself
	var routes strings.Builder
	for _, r := range rest.Routes() {
		fmt.Fprintf(&routes, "%s\n", r.Path) // TestPartOverREST wants a row for each
	}
	routes.WriteString("/graphs/{id}/mcp\n")
	parts := regexp.MustCompile(`\$?\{[^}]*\}`)
	known, found := parts.ReplaceAllString(routes.String(), "{}"), 0
	err := filepath.WalkDir("../../studio/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".ts", ".tsx"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range studioPaths.FindAllStringSubmatch(string(text), -1) {
			if found++; !strings.Contains(known, parts.ReplaceAllString(m[1], "{}")) && !slices.Contains(besides, m[1]) {
				t.Errorf("%s has the path %s, which is no route and no page of the studio", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 60 {
		t.Errorf("only %d paths were found", found)
	}
}
