package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

func TestSkill(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	module(t, map[string]string{
		"schema.pg": catalogSchema, "q/a.gq": catalogQueries,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: q/ }\n",
	})
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := gqRun(append([]string{"skill"}, args...)...)
		if code != want {
			t.Fatalf("exit %d, expected %d\n%s%s", code, want, stdout, stderr)
		}
		return stdout + stderr
	}
	if out := run(exitFailed, "--check"); !strings.Contains(out, "skills/people/SKILL.md is stale") {
		t.Errorf("--check before the first run prints\n%s", out)
	}
	if out := run(exitDone); !strings.HasPrefix(out, "skills/people/SKILL.md\n") {
		t.Errorf("it prints\n%s", out)
	}
	if out := run(exitDone) + run(exitDone, "--check"); out != "" {
		t.Errorf("the second run prints\n%s", out)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("skills", "people", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	main, queries := read("SKILL.md"), read("references/queries.md")
	if strings.Contains(main+queries, "hidden") {
		t.Errorf("the skill names a query that is not exposed:\n%s\n%s", main, queries)
	}

	// References of an earlier run go; files of the user stay.
	for _, name := range []string{"gq-retired.md", "queries-2.md", "own.md"} {
		if err := os.WriteFile(filepath.Join("skills", "people", "references", name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(exitDone); out != "skills/people/references/gq-retired.md\nskills/people/references/queries-2.md\n" {
		t.Errorf("it replaces\n%s", out)
	}
	if read("references/own.md") != "old" {
		t.Error("a file of the user is changed")
	}
	if err := os.WriteFile("q/a.gq", []byte("query bad() { match { $p: Nobody } return { $p.x } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(exitFailed); !strings.Contains(out, "q/a.gq:1:") || read("SKILL.md") != main {
		t.Errorf("with a fault it prints\n%s", out)
	}
	t.Chdir(wd)
	golden.Check(t, "testdata/skill/SKILL.md", []byte(main))
	golden.Check(t, "testdata/skill/queries.md", []byte(queries))
}
