//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// ownDomainFiles returns the rows of the table in the section "Your own domain" of the quickstart.
func ownDomainFiles(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Your own domain\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestOwnDomain makes a module with another name for its graph, and replaces the files that the
// quickstart lists with the files of another domain. It checks that no other file names the
// example, except the README. If OMNIGRAPH_TEST_INIT is set, the test also types the commands of
// the module, up to a call over MCP.
func TestOwnDomain(t *testing.T) {
	root, bind := checkout(t), freeAddress(t)
	archive, err := txtar.ParseFile("testdata/owndomain.txtar")
	if err != nil {
		t.Fatal(err)
	}
	listed := ownDomainFiles(t)
	work := t.TempDir()
	t.Chdir(work)
	if code, _, stderr := gqRun("init", "brain", "--replace", root, "--bind", bind, "--graph", "library"); code != exitDone {
		t.Fatal(stderr)
	}
	t.Chdir("brain")
	var replaced []string
	for _, pattern := range listed {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("the quickstart lists %s, which a new module does not have", pattern)
		}
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool { ok, _ := filepath.Match(pattern, f.Name); return ok }) {
			t.Errorf("the other domain has no %s", pattern)
		}
	}
	for _, f := range archive.Files {
		write(t, f.Name, string(f.Data))
		replaced = append(replaced, f.Name)
		if !slices.ContainsFunc(listed, func(p string) bool { ok, _ := filepath.Match(p, f.Name); return ok }) {
			t.Errorf("the quickstart does not list %s", f.Name)
		}
	}
	if code, _, stderr := gqRun("generate"); code != exitDone {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{{"generate", "--check"}, {"lint", "--max-warnings", "0"}, {"fmt", "-l", "schema.pg", "queries"}} {
		if code, stdout, stderr := gqRun(args...); code != exitDone {
			t.Errorf("gq %v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	example := regexp.MustCompile(`(?i)\bteam\b|decision|document`)
	err = filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || name == "README.md" || slices.Contains(replaced, filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(name)
		if found := example.Find(text); found != nil {
			t.Errorf("%s has %q of the example", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(initVar) == "" {
		return
	}
	const main = "cmd/omnigraph-server/main.go"
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	// The server must start even if its sample query no longer exists.
	const catalogs = "graph.Catalog()},"
	if !strings.Contains(string(text), catalogs) {
		t.Fatalf("%s has no %s", main, catalogs)
	}
	write(t, main, strings.Replace(string(text), catalogs, catalogs+` Sample: launch.Sample{Graph: "library", Query: "recent_decisions"},`, 1))
	front := openTerminal(t, filepath.Join(work, "brain"))
	for _, command := range []string{
		"go mod tidy", "go generate ./...", "go test ./...", "go tool omnigraph policy test --tests policy.cases.yaml", "make build data/library",
	} {
		front.run(command, 10*time.Minute)
	}
	if out, _ := front.until("bin/omnigraph-server --dev --bind "+bind, "Serving;", time.Minute); !strings.Contains(out, "shelves returns 2 rows") {
		t.Errorf("the server shows no other sample:\n%s", out)
	}
	second := openTerminal(t, filepath.Join(work, "brain"))
	checkAnswer(t, second.run(`curl -s http://`+bind+`/graphs/library/mcp -H "Authorization: Bearer $(cat data/dev-token)" `+
		`-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' `+
		`-d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"books_of","arguments":{"params":{"author":"James Watson"}}}}'`, time.Minute),
		"title", "The Double Helix")
	front.interrupt(time.Minute)
}
