package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
)

var mentioned = regexp.MustCompile(`\bL\d{3}\b`)

// TestAuthoring compiles the examples of the authors' guide. Its pg blocks together are one schema.
// A gq block must report the code in its fence, or nothing if the fence contains no code. The
// commands of the guide run in a project that is made of the examples.
func TestAuthoring(t *testing.T) {
	text, err := os.ReadFile("../../docs/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := fence.FindAllStringSubmatch(string(text), -1)
	schema := compile.Source{Name: "guide.pg"}
	for _, b := range blocks {
		if b[1] == "pg" {
			schema.Text += b[3]
		}
	}
	var queries, commands []string
	bad := 0
	for _, b := range blocks {
		switch b[1] {
		case "yaml":
			if _, faults := gqconfig.Parse(gqconfig.File, []byte(b[3])); faults != nil {
				t.Errorf("%v in\n%s", faults, b[3])
			}
		case "sh":
			commands = append(commands, strings.Split(strings.TrimSpace(b[3]), "\n")...)
		case "gq":
			r := compile.Lint(compile.Catalog{Schema: schema, Queries: []compile.Source{{Name: "guide.gq", Text: b[3]}}})
			var found []string
			for _, d := range r.List {
				found = append(found, string(d.Code))
			}
			want := strings.Fields(b[2])
			if len(want) > 0 {
				bad++
			} else {
				queries = append(queries, b[3])
				// A query that returns a list for programs has no limit on purpose.
				if strings.Contains(b[3], "expose: false") {
					want = []string{"L105"}
				}
			}
			if slices.Sort(found); !slices.Equal(slices.Compact(found), want) && !(len(want) == 1 && slices.Contains(found, want[0])) {
				t.Errorf("found %v, expected %v in\n%s", found, want, b[3])
			}
		}
	}
	if len(queries) < 3 || bad < 2 || len(commands) < 8 {
		t.Fatalf("found %d good and %d bad examples, %d commands; the test reads too few", len(queries), bad, len(commands))
	}
	known := map[string]bool{}
	for _, e := range entries() {
		known[string(e.Code)] = true
	}
	for _, code := range mentioned.FindAllString(string(text), -1) {
		if !known[code] {
			t.Errorf("the guide names %s, which is not a code", code)
		}
	}
	runCommands(t, schema.Text, strings.Join(queries, "\n"), commands)
}

// runCommands runs command lines in a project with one graph that is committed on the branch main.
func runCommands(t *testing.T, schema, queries string, commands []string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  support:\n    schema: g/schema.pg\n    queries: g/\n",
		"gq.yaml":      "lint: { rules: { L105: off } }\n", "g/schema.pg": schema, "g/a.gq": queries,
	})
	for _, args := range [][]string{{"fmt", "-w", "g"}, {"generate"}} {
		if code, stdout, stderr := gqRun(args...); code != exitDone {
			t.Fatalf("gq %v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	commitAll(t)
	for _, line := range commands {
		args := strings.Fields(line)
		if args[0] != "gq" {
			t.Errorf("%q is no command of gq", line)
			continue
		}
		if code, stdout, stderr := gqRun(args[1:]...); code != exitDone {
			t.Errorf("%s: exit %d\n%s%s", line, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.FromSlash("docs/reference/tools/support.md")); err != nil {
		t.Errorf("the commands wrote no page: %v", err)
	}
}
