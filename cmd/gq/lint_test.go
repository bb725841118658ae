package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
)

// lintModule makes a cluster with two files that have an error, warnings and two fixes.
func lintModule(t *testing.T, more map[string]string) {
	t.Helper()
	files := map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  "node Person { slug: String @key  name: String @description(\"The name.\")  age: I32? }\n",
		"g/a.gq": "query find($slug: String) @description(\"Finds one.\") @mcp(expose = true) {\n" +
			"  match { $p: Person { slug: $slug } }\n  return { $p.name }\n}\n",
		"g/b.gq": "// gq:ignore L106 for people only\n// gq:ignore L101 the name is shown\nquery all() {\n  match { $p: Person }\n  return { $p.name }\n}\n",
	}
	for name, text := range more {
		files[name] = text
	}
	module(t, files)
}

func TestLintFormats(t *testing.T) {
	lintModule(t, nil)
	dir := t.TempDir()
	for _, format := range []string{"text", "json", "sarif", "github"} {
		code, stdout, stderr := gqRun("lint", "--format", format)
		if code != exitDone || stderr != "" {
			t.Errorf("%s: exit %d\n%s", format, code, stderr)
		}
		if err := os.WriteFile(dir+"/"+format, []byte(stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		if format == "json" {
			var report struct {
				Diagnostics []json.RawMessage
				Warnings    int
				ToolLists   []toolList `json:"tool_lists"`
			}
			if err := json.Unmarshal([]byte(stdout), &report); err != nil || len(report.Diagnostics) < report.Warnings || report.Warnings == 0 {
				t.Errorf("json: %v\n%s", err, stdout)
			}
			if len(report.ToolLists) != 1 || report.ToolLists[0].Queries != 2 || report.ToolLists[0].Tokens*4 < report.ToolLists[0].Bytes {
				t.Errorf("tool lists %+v", report.ToolLists)
			}
		}
	}
	t.Chdir(testFolder)
	for _, format := range []string{"text", "json", "sarif", "github"} {
		got, err := os.ReadFile(dir + "/" + format)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/lint/report."+format, got)
	}
}

// testFolder is the current folder at the start of the tests, before they change to another one.
var testFolder = func() string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return wd
}()

func TestLintExit(t *testing.T) {
	lintModule(t, nil)
	tests := []struct {
		name string
		args []string
		code int
		out  string // part of standard output or standard error
	}{
		{"warnings allowed", nil, exitDone, "L105"},
		{"more than allowed", []string{"--max-warnings", "0"}, exitFailed, "L105"},
		{"as many as allowed", []string{"--max-warnings", "3"}, exitDone, "L105"},
		{"one file", []string{"--schema", "g/schema.pg", "g/b.gq"}, exitDone, "L105"},
		{"a folder", []string{"--schema", "g/schema.pg", "--whole", "g"}, exitDone, "2 of them stored queries"},
		{"files without a schema", []string{"g/a.gq"}, exitUsage, "--schema is missing"},
		{"unknown format", []string{"--format", "xml"}, exitUsage, `--format is "xml"`},
		{"unknown flag", []string{"--fox"}, exitUsage, "unknown flag"},
		{"no such file", []string{"--schema", "g/schema.pg", "g/c.gq"}, exitFailed, "no such file"},
		{"no such schema", []string{"--schema", "g/none.pg", "g/a.gq"}, exitFailed, "no such file"},
	}
	for _, test := range tests {
		code, stdout, stderr := gqRun(append([]string{"lint"}, test.args...)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.out) {
			t.Errorf("%s: exit %d, expected %d with %q\n%s%s", test.name, code, test.code, test.out, stdout, stderr)
		}
	}
	if err := os.WriteFile("g/c.gq", []byte("query c() { match { $p: Persn } return { $p } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := gqRun("lint"); code != exitFailed || !strings.Contains(stdout, "g/c.gq:1:25: error T1") {
		t.Errorf("with an error: exit %d\n%s", code, stdout)
	}
}

func TestLintConfig(t *testing.T) {
	lintModule(t, map[string]string{"gq.yaml": "lint:\n  rules: { L105: error, L113: off, L199: off }\n  token_budget: 100\n"})
	code, stdout, stderr := gqRun("lint")
	if code != exitFailed || !strings.Contains(stdout, "error L105") || strings.Contains(stdout, "L113") || !strings.Contains(stdout, "over the budget of 100") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	t.Chdir("g")
	if again, out, _ := gqRun("lint"); again != code || !strings.Contains(out, "\nb.gq:") || strings.Contains(out, "L113") {
		t.Errorf("from a folder below: exit %d\n%s", again, out)
	}
}

func TestConfigFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "lnt: {}\n", "C2"},
		{"unknown rule", "lint: { rules: { L9999: off } }\n", "C6"},
		{"unknown level", "lint: { rules: { L105: loud } }\n", "C7"},
		{"budget of none", "lint: { token_budget: 0 }\n", "C7"},
		{"text for a number", "lint: { max_tool_name: long }\n", "C3"},
		{"no YAML", "lint: [\n", "C1"},
	}
	for _, test := range tests {
		if _, faults := gqconfig.Parse(gqconfig.File, []byte(test.text)); len(faults) == 0 || string(faults[0].Code) != test.want {
			t.Errorf("%s: %v", test.name, faults)
		}
	}
	cfg, faults := gqconfig.Parse(gqconfig.File, []byte("lint:\n  rules: { L105: off }\n  max_tool_name: 50\n  max_description: 500\n"))
	if faults != nil || len(cfg.Lint.Levels) != 1 || cfg.Lint.MaxToolName != 50 || cfg.Lint.MaxDescription != 500 || cfg.Lint.TokenBudget != 0 {
		t.Errorf("read %+v, %v", cfg, faults)
	}
	lintModule(t, map[string]string{"gq.yaml": "lint: { rules: { L105: loud } }\n"})
	if code, stdout, stderr := gqRun("lint"); code != exitFailed || stdout != "" || !strings.Contains(stderr, "gq.yaml:1:24: error C7") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte("lint:\n  rules: { L105: off }\n  max_tool_name: 50\n"))
	f.Add([]byte("lint: { rules: [L105], token_budget: -1 }\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		cfg, faults := gqconfig.Parse(gqconfig.File, src)
		if faults.HasErrors() {
			return
		}
		for code := range cfg.Lint.Levels {
			if !strings.HasPrefix(string(code), "L") {
				t.Errorf("%q sets %s", src, code)
			}
		}
		if cfg.Lint.MaxToolName < 0 || cfg.Lint.MaxDescription < 0 || cfg.Lint.TokenBudget < 0 {
			t.Errorf("%q is read as %+v", src, cfg)
		}
	})
}

func TestLintFix(t *testing.T) {
	lintModule(t, nil)
	code, stdout, stderr := gqRun("lint", "--fix")
	if code != exitDone || strings.Contains(stdout, "L113") || strings.Contains(stdout, "L199") || !strings.Contains(stdout, "L105") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	if stderr != "g/a.gq: fixed\ng/b.gq: fixed\n" {
		t.Errorf("told %q", stderr)
	}
	wantFile(t, "g/a.gq", "query find($slug: String) @description(\"Finds one.\") @mcp(expose: true) {\n  match { $p: Person { slug: $slug } }\n  return { $p.name }\n}\n")
	wantFile(t, "g/b.gq", "// gq:ignore L106 for people only\nquery all() {\n  match { $p: Person }\n  return { $p.name }\n}\n")
	if _, _, stderr := gqRun("lint", "--fix"); stderr != "" {
		t.Errorf("fixed again: %s", stderr)
	}
}

// TestLintFixLeavesFaultyFiles uses a file that has both a fix and an error.
func TestLintFixLeavesFaultyFiles(t *testing.T) {
	const text = "query a() @mcp(expose = true) { match { $p: Person } return { $p.name } }\nquery b() { match { $p: Persn } return { $p.name } }\n"
	lintModule(t, map[string]string{"g/a.gq": text})
	if code, _, stderr := gqRun("lint", "--fix"); code != exitFailed || !strings.Contains(stderr, "g/a.gq: not fixed") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	wantFile(t, "g/a.gq", text)
}
