//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSecondGraph follows the section of the README that adds a graph to a new module, with the texts that it
// gives. After that, everything that gq init wrote must still work.
func TestSecondGraph(t *testing.T) {
	if os.Getenv(initVar) == "" {
		t.Skip(initVar + " is not set; run make test-init")
	}
	root, dir := checkout(t), filepath.Join(t.TempDir(), "brain")
	if code, _, stderr := gqRun("init", dir, "--replace", root); code != exitDone {
		t.Fatal(stderr)
	}
	given := addedGraph(t, filepath.Join(dir, "README.md"))
	for i, name := range []string{"hiring/schema.pg", "hiring/queries/candidates.gq", "hiring/policy.yaml", "hiring/policy.cases.yaml"} {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, to, given[i])
	}
	after(t, filepath.Join(dir, "cluster.yaml"), "graphs:\n", given[4])
	after(t, filepath.Join(dir, "cluster.yaml"), "policies:\n", given[5])
	main := filepath.Join(dir, "cmd", "omnigraph-server", "main.go")
	replaceIn(t, main, "\tgraph \"brain/generated/team\"\n", given[6]+"\tgraph \"brain/generated/team\"\n")
	replaceIn(t, main, "\t\tCatalogs: []*tool.Catalog{graph.Catalog()},\n", given[7])
	after(t, filepath.Join(dir, "Makefile"), "--tests policy.cases.yaml\n", given[8])

	c := openTerminal(t, dir)
	c.run("go mod tidy && go generate ./...", 10*time.Minute)
	c.run("make lint test build", 10*time.Minute)
	c.run("make data/team", 10*time.Minute)
	c.run("go tool omnigraph cluster apply", time.Minute)
	// The other steps test and build, as make test and make build did.
	runWorkflow(t, c, filepath.Join(dir, ".github", "workflows", "ci.yml"), "Test", "Build")
	c.start("bin/omnigraph-server --dev --bind 127.0.0.1:0", "Serving;", time.Minute)
	c.mu.Lock()
	printed := c.out.String()
	c.mu.Unlock()
	for _, want := range []string{"/graphs/team/mcp\n", "/graphs/hiring/mcp\n"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the server does not serve %s:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "nothing on hiring") {
		t.Errorf("the policy allows act-dev nothing:\n%s", printed)
	}
	c.interrupt(time.Minute)
}

// addedGraph returns the texts that the README gives for a second graph, in order.
func addedGraph(t *testing.T, readme string) []string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := bytes.Cut(text, []byte("\n## Add a graph\n"))
	section, _, _ = bytes.Cut(section, []byte("\n## "))
	var given []string
	inside := false
	for line := range strings.Lines(string(section)) {
		code, ok := strings.CutPrefix(line, "    ")
		switch {
		case ok && !inside:
			given = append(given, code)
		case ok:
			given[len(given)-1] += code
		case line == "\n" && inside:
			continue // a block may contain an empty line, and the text after it ends the block
		}
		inside = ok
	}
	if len(given) != 9 {
		t.Fatalf("the section gives %d texts: %q", len(given), given)
	}
	return given
}

// after inserts a text after the only occurrence of another one.
func after(t *testing.T, name, mark, text string) {
	t.Helper()
	replaceIn(t, name, mark, mark+text)
}

func replaceIn(t *testing.T, name, old, text string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), old) != 1 {
		t.Fatalf("%s does not have %q once:\n%s", name, old, b)
	}
	write(t, name, strings.Replace(string(b), old, text, 1))
}
