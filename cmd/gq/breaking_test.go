package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// contractModule makes a module with one graph, generates its package, and commits everything.
func contractModule(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	if code, _, stderr := gqRun("generate"); code != exitDone {
		t.Fatal(stderr)
	}
	commitAll(t)
}

// commitAll commits the current directory on the branch main of a new repository.
func commitAll(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBreaking(t *testing.T) {
	contractModule(t)
	const more = "query all() { match { $p: Person } return { $p.name as name } }\n"
	tests := []struct {
		name, queries string
		args          []string
		code          int
		want          []string // parts of standard output or standard error
	}{
		{"nothing", goodQuery, nil, exitDone, []string{"0 breaking, 0 safe\n"}},
		{"safe", goodQuery + more, nil, exitDone, []string{"safe: g/a.gq:2: all: query-added", "0 breaking, 1 safe"}},
		{"breaking", more, nil, exitFailed, []string{"breaking: g/a.gq: find: query-removed: the query find (tool find) was removed", "1 breaking, 1 safe"}},
		{"github", more, []string{"--format", "github"}, exitFailed, []string{"::error file=g/a.gq,title=query-removed::find: ", "::notice file=g/a.gq,line=1,title=query-added::all: "}},
		{"fault", "query all() {", nil, exitFailed, []string{"g/a.gq:1:"}},
		{"bad format", goodQuery, []string{"--format", "xml"}, exitUsage, []string{"xml"}},
		{"no such ref", goodQuery, []string{"--against", "mian"}, exitFailed, []string{"mian is not a commit"}},
		{"an option", goodQuery, []string{"--against=--output=x"}, exitFailed, []string{"neither a git ref"}},
		{"nothing given", goodQuery, []string{"--against", ""}, exitUsage, []string{"--against is missing"}},
		{"an argument", goodQuery, []string{"main"}, exitUsage, []string{`"main"`}},
		{"a file", more, []string{"--against", "generated/people/catalog.json"}, exitFailed, []string{"1 breaking"}},
		{"no such file", more, []string{"--against", "gone.json"}, exitFailed, []string{"gone.json"}},
		{"no contract", more, []string{"--against", "go.mod"}, exitFailed, []string{"read the contract go.mod"}},
	}
	for _, tt := range tests {
		write(t, "g/a.gq", tt.queries)
		code, stdout, stderr := gqRun(append([]string{"breaking", "--against", "main"}, tt.args...)...)
		if code != tt.code {
			t.Errorf("%s: exit %d, expected %d\n%s%s", tt.name, code, tt.code, stdout, stderr)
		}
		for _, want := range tt.want {
			if !strings.Contains(stdout+stderr, want) {
				t.Errorf("%s: no %q in\n%s%s", tt.name, want, stdout, stderr)
			}
		}
	}

	write(t, "g/a.gq", goodQuery)
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  persons:\n    schema: g/schema.pg\n    queries: g/\n")
	code, stdout, _ := gqRun("breaking", "--against", "HEAD", "--format", "json")
	var report struct {
		Breaking, Safe int
		Graphs         []struct {
			Graph          string
			Added, Removed bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	if code != exitFailed || report.Breaking != 1 || report.Safe != 1 || len(report.Graphs) != 2 || !report.Graphs[0].Added || !report.Graphs[1].Removed {
		t.Errorf("exit %d, %s", code, stdout)
	}
	if code, _, stderr := gqRun("breaking", "--against", "generated/people/catalog.json"); code != exitFailed || !strings.Contains(stderr, "the contract of graph people") {
		t.Errorf("compared with the contract of a removed graph: exit %d, %s", code, stderr)
	}

	t.Setenv("PATH", t.TempDir())
	if code, _, stderr := gqRun("breaking", "--against", "HEAD"); code != exitFailed || !strings.Contains(stderr, "git is not installed") {
		t.Errorf("without git: exit %d, %s", code, stderr)
	}
}

// TestBreakingFirst compares with a commit in which nothing was generated yet.
func TestBreakingFirst(t *testing.T) {
	contractModule(t)
	for _, args := range [][]string{{"rm", "-rq", "--cached", "generated"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "y"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, tt := range []struct{ args, stdout string }{
		{"breaking --against main", "safe: the graph people was added\n0 breaking, 1 safe\n"},
		{"breaking --against main --format github", ""},
		{"breaking --against main --schema g/schema.pg --queries g", "0 breaking, 0 safe\n"},
		{"breaking --against main --schema g/schema.pg --queries g --graph people", "0 breaking, 0 safe\n"},
	} {
		code, stdout, stderr := gqRun(strings.Fields(tt.args)...)
		if code != exitDone || stdout != tt.stdout || !strings.Contains(stderr, "main has no generated/<graph>/catalog.json") {
			t.Errorf("gq %s: exit code %d\n%s%s", tt.args, code, stdout, stderr)
		}
	}
	if code, _, stderr := gqRun("breaking", "--against", "nowhere"); code != exitFailed || !strings.Contains(stderr, "is not a commit") {
		t.Errorf("an unknown commit: exit code %d: %s", code, stderr)
	}
}

func TestBreakingMode(t *testing.T) {
	contractModule(t)
	cluster, err := os.ReadFile("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "cluster.yaml", string(cluster)+"    mcp: { meta_threshold: 1 }\n")
	code, stdout, stderr := gqRun("breaking", "--against", "main")
	if want := "breaking: cluster.yaml: tools-paired: the number of exposed queries is 1; from 1 on"; code != exitFailed || !strings.Contains(stdout, want) {
		t.Errorf("exit %d, expected %q in\n%s%s", code, want, stdout, stderr)
	}
	code, stdout, stderr = gqRun("breaking", "--against", "main", "--format", "github")
	if want := "::error file=cluster.yaml,title=tools-paired::the number of exposed queries is 1"; code != exitFailed || !strings.Contains(stdout, want) {
		t.Errorf("exit %d, expected %q in\n%s%s", code, want, stdout, stderr)
	}
	// A contract alone does not contain the earlier threshold.
	if code, stdout, stderr := gqRun("breaking", "--against", "generated/people/catalog.json"); code != exitDone {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestBreakingFromAFolder runs gq breaking in a folder below the root of the module. Paths
// are relative to that folder.
func TestBreakingFromAFolder(t *testing.T) {
	contractModule(t)
	t.Chdir("g")
	if code, stdout, stderr := gqRun("breaking", "--against", "main"); code != exitDone || stdout != "0 breaking, 0 safe\n" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	write(t, "a.gq", goodQuery+strings.ReplaceAll(goodQuery, "find", "all"))
	if code, stdout, stderr := gqRun("breaking", "--against", "main"); code != exitDone || !strings.HasPrefix(stdout, "safe: a.gq:2: all: query-added") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestBreakingOfASchema runs in a module without a cluster.yaml. It compares the sources that the
// flags select.
func TestBreakingOfASchema(t *testing.T) {
	contractModule(t)
	if err := os.Remove("cluster.yaml"); err != nil {
		t.Fatal(err)
	}
	write(t, "g/a.gq", strings.ReplaceAll(goodQuery, "find", "all"))
	sources := []string{"--schema", "g/schema.pg", "--queries", "g"}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"--against main", exitFailed, "breaking: g/a.gq: find: query-removed"},
		{"--against generated/people/catalog.json", exitFailed, "safe: g/a.gq:1: all: query-added"},
		{"--against main --graph people", exitFailed, "1 breaking, 1 safe"},
		{"--against main --graph persons", exitFailed, "main has 0 graphs to compare with; name one with --graph"},
	} {
		code, stdout, stderr := gqRun(append(append([]string{"breaking"}, strings.Fields(tt.args)...), sources...)...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%s: exit %d, want %q\n%s%s", tt.args, code, tt.want, stdout, stderr)
		}
	}
	if code, _, stderr := gqRun("breaking", "--against", "main", "--schema", "g/schema.pg"); code != exitUsage || !strings.Contains(stderr, "--schema and --queries must be given together") {
		t.Errorf("without --queries: exit %d\n%s", code, stderr)
	}
}
