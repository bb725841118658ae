package studio

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDevFaults saves files with faults while gq dev serves them. The studio must show the faults until a save mends them, and must
// tell them to the actor of the development token alone.
func TestDevFaults(t *testing.T) {
	needBrowser(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	const query = "query people() @description(\"List the people.\") { match { $p: Person } return { $p.name as name } }\n"
	const cluster = "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\npolicies:\n  people: { file: policy.yaml, applies_to: [people] }\nserver: { studio: true }\n"
	files := map[string]string{
		"schema.pg":         "node Person {\n  name: String @key\n}\n",
		"queries/people.gq": query,
		"policy.yaml":       "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-dev, act-ada] }, actions: [invoke_query, read] }\n",
		"cluster.yaml":      cluster,
	}
	save := func(name, text string) { write(t, filepath.Join(dir, filepath.FromSlash(name)), text) }
	for name, text := range files {
		save(name, text)
	}
	s := serveWith(t, exec.Command(command(t, "gq"), "dev", "--cluster", dir, "--bind", "127.0.0.1:0", "--server", command(t, "omnigraph-server")), dir, "people")
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/people")
	b.wait("document.querySelector('main h1, main h2') !== null")
	if eval[bool](b, "document.querySelector('.faults') !== null") {
		t.Error("the studio shows faults before there are some")
	}
	told := func(token string) (status int, faults []struct{ File, Message string }) {
		t.Helper()
		r, _ := http.NewRequest("GET", s.url+"/studio/faults.json", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		var a struct {
			Faults []struct{ File, Message string }
		}
		if err := json.Unmarshal(text, &a); err != nil && res.StatusCode == http.StatusOK {
			t.Fatalf("%v: %s", err, text)
		}
		return res.StatusCode, a.Faults
	}

	save("queries/people.gq", strings.Replace(query, "$p.name", "$p.nam", 1))
	b.wait("document.querySelector('.faults')?.innerText.includes('people.gq:1:')")
	b.wantText("The last save was not applied.", "nam", "did you mean name?")
	b.accessible()
	b.shoot("faults")
	if status, faults := told(s.token["act-dev"]); status != http.StatusOK || len(faults) != 1 {
		t.Errorf("the actor of the development token gets %d %v", status, faults)
	}
	if status, faults := told(s.token["act-ada"]); status != http.StatusOK || len(faults) != 0 {
		t.Errorf("another actor gets %d %v", status, faults)
	}
	if status, _ := told(""); status != http.StatusUnauthorized {
		t.Errorf("without a token the status is %d", status)
	}
	save("queries/people.gq", query)
	b.wait("document.querySelector('.faults') === null")

	save("cluster.yaml", cluster+"serve: {}\n") // a fault without a place in a source of a graph
	b.wait("document.querySelector('.faults')?.innerText.includes('serve')")
	save("cluster.yaml", cluster)
	b.wait("document.querySelector('.faults') === null")
	b.quiet()
}
