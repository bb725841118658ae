package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/codegen/scaffold"
)

// checkout returns the root of this repository.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestInit creates a module and runs the other verbs on it. They must find no stale file, no
// warning and no layout that differs.
func TestInit(t *testing.T) {
	root := checkout(t)
	t.Chdir(t.TempDir())
	code, stdout, stderr := gqRun("init", "brain", "--replace", root, "--dry-run")
	if code != exitDone || !strings.Contains(stdout, filepath.FromSlash("brain/queries/people.gq\n")) {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat("brain"); err == nil {
		t.Fatal("--dry-run made the folder")
	}
	listed := stdout
	code, stdout, stderr = gqRun("init", "brain", "--replace", root)
	if code != exitDone || !strings.HasPrefix(stdout, listed) || !strings.Contains(stdout, "\n  cd brain\n  go mod tidy\n") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stdout, scaffold.CompileNote) {
		t.Errorf("the output does not say that the first command compiles:\n%s", stdout)
	}
	for name := range strings.Lines(listed) {
		if _, err := os.Stat(strings.TrimSpace(name)); err != nil {
			t.Errorf("listed and not made: %v", err)
		}
	}
	t.Chdir("brain")
	for _, args := range [][]string{{"generate", "--check"}, {"lint", "--max-warnings", "0"}, {"fmt", "-l", "schema.pg", "queries"}} {
		if code, stdout, stderr := gqRun(args...); code != exitDone {
			t.Errorf("gq %s: exit %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir(".git", 0o755); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := gqRun("init", ".", "--module", "example.com/x", "--replace", root); code != exitDone || strings.Contains(stdout, "  cd ") {
		t.Errorf("here: exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestInitInWorkspace checks that gq init first adds the module to the workspace that contains it.
// The go command would otherwise refuse to work in the module.
func TestInitInWorkspace(t *testing.T) {
	root, dir := checkout(t), t.TempDir()
	t.Setenv("GOWORK", "")
	if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte("go 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	told := func() bool {
		t.Helper()
		into := filepath.Join(dir, "deep", strings.ReplaceAll(t.TempDir(), "/", "_"))
		code, stdout, stderr := gqRun("init", into, "--module", "brain", "--replace", root)
		if code != exitDone {
			t.Fatal(stderr)
		}
		return strings.Contains(stdout, "\n  go work use .\n  go mod tidy\n")
	}
	if !told() {
		t.Error("gq init does not say to add the module to the workspace")
	}
	t.Setenv("GOWORK", "off")
	if told() {
		t.Error("gq init says to add the module to a workspace that is switched off")
	}
	t.Setenv("GOWORK", filepath.Join(dir, "go.work"))
	if !told() {
		t.Error("gq init does not say to add the module to the workspace of GOWORK")
	}
}

func TestInitRefuses(t *testing.T) {
	root := checkout(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"full/.hidden", "full/notes.txt", "file"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"full --replace " + root, "full is not empty: it holds .hidden, notes.txt", exitFailed},
		{"file --replace " + root, "file", exitFailed},
		{"brain", "--replace DIR, or install a released gq", exitFailed},
		{"brain --replace full", "does not hold the go.mod of " + scaffold.Omnigraph, exitFailed},
		{"brain --replace " + root + " --module a:b", "module path", exitFailed},
		{"brain --replace " + root + " --module " + scaffold.Omnigraph, "the path of Omnigraph itself", exitFailed},
		{"brain --replace " + root + " --bind 80", "host:port", exitFailed},
		{"brain --replace " + root + " --bind $(id):1", `its host "$(id)" is not a name or an IP address`, exitFailed},
		{"brain --replace " + root + " --bind localhost:x", `its port "x" is not a number from 1 to 65535`, exitFailed},
		{"", "got 0 arguments; give only the folder", exitUsage},
		{"a b", "got 2 arguments", exitUsage},
	} {
		code, stdout, stderr := gqRun(append([]string{"init"}, strings.Fields(tt.args)...)...)
		if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("gq init %s: exit %d, want %q\n%s%s", tt.args, code, tt.want, stdout, stderr)
		}
	}
	if left, _ := filepath.Glob("*"); len(left) != 2 {
		t.Errorf("there is %v", left)
	}
	t.Chdir(filepath.Join(root, "cmd"))
	if _, _, stderr := gqRun("init", filepath.Join(t.TempDir(), "brain")); !strings.Contains(stderr, "--replace ..,") {
		t.Errorf("in a checkout it is not named: %s", stderr)
	}
}

func TestReleased(t *testing.T) {
	own := func(version, sum string) debug.Module {
		return debug.Module{Path: scaffold.Omnigraph, Version: version, Sum: sum}
	}
	dep := func(m debug.Module, replace *debug.Module) *debug.BuildInfo {
		m.Replace = replace
		return &debug.BuildInfo{Main: debug.Module{Path: "brain", Version: "(devel)"}, Deps: []*debug.Module{{Path: "x", Version: "v1.0.0", Sum: "h1:x"}, &m}}
	}
	for name, tt := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"none":                                {nil, ""},
		"go build in a checkout":              {&debug.BuildInfo{Main: own("(devel)", "")}, ""},
		"the same, with its commit stamped":   {&debug.BuildInfo{Main: own("v1.2.4-0.20260101000000-aaaaaaaaaaaa+dirty", "")}, ""},
		"go install of a release":             {&debug.BuildInfo{Main: own("v1.2.3", "h1:x")}, "v1.2.3"},
		"go tool of a module":                 {dep(own("v1.2.3", "h1:x"), nil), "v1.2.3"},
		"go tool of one with a vendor folder": {dep(own("v1.2.3", ""), nil), "v1.2.3"},
		"go tool of one with a replacement":   {dep(own("v0.0.0", ""), &debug.Module{Path: "../omnigraph"}), ""},
		"go tool in a workspace":              {dep(own("(devel)", ""), nil), ""},
	} {
		if got, err := released(tt.info); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
	}
}
