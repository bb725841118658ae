package scaffold

import (
	"bytes"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

func brain() *Module {
	return &Module{Path: "example.com/acme/brain", Version: "v0.0.0", Replace: "/a folder/omnigraph", Bind: "127.0.0.1:8080"}
}

func rendered(t *testing.T, m *Module) codegen.Files {
	t.Helper()
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFilesAreFormatted checks that the formatters would not change the files of a new module.
func TestFilesAreFormatted(t *testing.T) {
	seen := map[string]int{}
	for name, text := range rendered(t, brain()) {
		if bytes.Contains(text, []byte("<no value>")) || bytes.Contains(text, []byte("{{")) && path.Ext(name) != ".yml" {
			t.Errorf("%s is not filled in", name)
		}
		own := !strings.HasPrefix(name, codegen.ReferenceDir)
		if own && (!bytes.HasSuffix(text, []byte("\n")) || bytes.HasSuffix(text, []byte("\n\n"))) {
			t.Errorf("%s does not end with exactly one line end", name)
		}
		seen[path.Ext(name)]++
		want := text
		switch path.Ext(name) {
		case ".go":
			var err error
			if want, err = format.Source(text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		case ".gq", ".pg":
			src := compile.Source{Name: name, Text: string(text)}
			laid, faults := compile.Format(src)
			if faults != nil {
				t.Fatal(faults)
			}
			want = []byte(laid)
		}
		if !bytes.Equal(text, want) {
			t.Errorf("the formatter would change %s to\n%s", name, want)
		}
	}
	if seen[".go"] < 5 || seen[".gq"] != 4 || seen[".pg"] != 1 {
		t.Errorf("looked at %v", seen)
	}
}

// TestGeneratedLines bounds the generated files of a new module, which people read in reviews: 183 lines of queries
// may become 400 lines of Go and 700 of JSON.
func TestGeneratedLines(t *testing.T) {
	lines := map[string]int{}
	for name, text := range rendered(t, brain()) {
		if ext := path.Ext(name); ext == ".gq" || strings.HasPrefix(name, "generated/") {
			lines[ext] += bytes.Count(text, []byte("\n"))
		}
	}
	if lines[".gq"] < 183 || lines[".go"] == 0 || lines[".go"] > 400 || lines[".json"] == 0 || lines[".json"] > 700 {
		t.Errorf("found the lines %v, expected at most 400 of Go and 700 of JSON for 183 of queries", lines)
	}
}

// TestNothingIsOdd lints the schema and the queries with every rule, including those across files.
func TestNothingIsOdd(t *testing.T) {
	files := rendered(t, brain())
	c := compile.Catalog{Whole: true, Schema: compile.Source{Name: schemaFile, Text: string(files[schemaFile])}, Config: lint.Config{}}
	for _, name := range files.Names() {
		if path.Ext(name) == ".gq" {
			c.Queries = append(c.Queries, compile.Source{Name: name, Text: string(files[name])})
		}
	}
	for _, d := range compile.Lint(c).List {
		t.Errorf("%s: %s: %s", d.Span, d.Code, d.Message)
	}
}

// TestModuleIsRead reads a written module with the same code as the programs that a user runs.
func TestModuleIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "brain")
	files := rendered(t, brain())
	if err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	cfg, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Name != "brain" || len(cfg.Graphs) != 1 || cfg.Graphs[0].ID != defaultGraph || len(cfg.Graphs[0].QueryFiles) != 4 {
		t.Errorf("cluster.yaml says %+v", cfg)
	}
	if _, err := policy.Read(cfg.Graphs[0].Policy, policy.Options{Graph: defaultGraph, Queries: []string{"find_documents", "get_document"}}); err != nil {
		t.Error(err)
	}
	mod, err := modfile.Parse("go.mod", files["go.mod"], nil)
	if err != nil {
		t.Fatal(err)
	}
	if mod.Module.Mod.Path != "example.com/acme/brain" || len(mod.Replace) != 1 || mod.Replace[0].New.Path != "/a folder/omnigraph" || len(mod.Tool) != 2 {
		t.Errorf("go.mod says\n%s", files["go.mod"])
	}
	own, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.ParseLax("go.mod", own, nil)
	if err != nil {
		t.Fatal(err)
	}
	if mod.Go.Version != parsed.Go.Version {
		t.Errorf("the module is for Go %s, but Omnigraph requires %s", mod.Go.Version, parsed.Go.Version)
	}
	released := brain()
	released.Version, released.Replace = "v1.2.3", ""
	if text := string(rendered(t, released)["go.mod"]); strings.Contains(text, "replace") || !strings.Contains(text, Omnigraph+" v1.2.3") {
		t.Errorf("go.mod of a release says\n%s", text)
	}
}

func TestCheck(t *testing.T) {
	for path, want := range map[string]string{
		"brain": "", "example.com/brain/v2": "", "example.com/Brain": "",
		"a b": "is not valid", "": "is not valid", "/brain": "is not valid", "..": "is not valid",
		"go": "does not accept", "toolchain": "does not accept", "go/x": "", "mod": "the go command reserves", "mod/x": "the go command reserves",
		"con": "is not valid", "main": "", "test": "",
		"cmd": "the go command reserves", "std/x": "the go command reserves", "brä": "is not valid", "-brain": "is not valid",
		"vendor": "a folder named vendor", "example.com/vendor/brain": "a folder named vendor", "example.com/vendors": "", "internal": "", "func": "",
	} {
		m := brain()
		m.Path = path
		if err := m.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	for bind, want := range map[string]string{
		"127.0.0.1:8080": "", ":8080": "", "0.0.0.0:1": "", "[::1]:65535": "", "localhost:80": "", "graph-1.example.com:80": "",
		"8080": "use host:port", "": "use host:port", "::1:80": "use host:port",
		"$(id):1": "not a name or an IP address", "a b:1": "not a name or an IP", "a'b:1": "not a name or an IP", "`id`:1": "not a name or an IP", "-x:1": "not a name or an IP",
		"a;id:1": "not a name or an IP", "a\nb:1": "not a name or an IP", "[fe80::1%$(id)]:1": "not a name or an IP", "ä:1": "not a name or an IP", "$x:1": "not a name or an IP", "a/b:1": "not a name or an IP",
		"localhost:": "not a number", "localhost:0": "not a number", "localhost:$(id)": "not a number", "localhost:http": "not a number", "localhost:65536": "not a number", "localhost:+1": "not a number",
	} {
		m := brain()
		m.Bind = bind
		if err := m.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", bind, err, want)
		}
	}
	m := brain()
	m.Path = "example.com/acme/Brain/v2"
	if m.name() != "Brain" {
		t.Errorf("it is called %s", m.name())
	}
}

// TestImage checks that docker accepts the image name in the README.
func TestImage(t *testing.T) {
	for path, want := range map[string]string{
		"example.com/acme/Brain/v2": "brain", "my-brain": "my-brain", "_brain": "brain", "a+b": "a-b", "x~y..z_": "x-y-z", "example.com/_": defaultGraph,
	} {
		if got := (&Module{Path: path}).Image(); got != want {
			t.Errorf("%q: the image is %q, expected %q", path, got, want)
		}
	}
}

// TestWriteUndoes checks that a write that fails leaves no files behind and replaces none.
func TestWriteUndoes(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b")
	files := codegen.Files{"1": []byte("one"), "deep/2": []byte("two"), "deep/2/3": []byte("under a file")}
	if err := Write(dir, files); err == nil {
		t.Fatal("a file under a file was written")
	}
	if _, err := os.Stat(filepath.Join(root, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the files that the failed write created still exist: %v", err)
	}
	kept := filepath.Join(root, "z")
	if err := os.WriteFile(kept, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(root, codegen.Files{"1": nil, "z": nil}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if text, _ := os.ReadFile(kept); string(text) != "mine" {
		t.Errorf("the file holds %q", text)
	}
	if names, err := BlockingEntries(root); err != nil || !slices.Equal(names, []string{"z"}) {
		t.Errorf("left: %v %v", names, err)
	}
}

func TestInTheWay(t *testing.T) {
	dir := t.TempDir()
	if names, err := BlockingEntries(filepath.Join(dir, "none")); err != nil || names != nil {
		t.Errorf("of no folder: %v %v", names, err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if names, err := BlockingEntries(dir); err != nil || names != nil {
		t.Errorf("of a fresh clone: %v %v", names, err)
	}
	if _, err := BlockingEntries("scaffold.go"); err == nil {
		t.Error("a file passes for a folder")
	}
}

// TestPrintedLinesAreOneCommand runs the printed commands in a shell. The address contains special
// characters of the shell; Check would reject such an address. Each argument must stay one word, and the
// shell must execute nothing in it.
func TestPrintedLinesAreOneCommand(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, host := range []string{"$(touch made)", "`touch made`", "a;touch made;", "a' 'b", `a\"b`, "a&touch made&", "a\ntouch made\n", "[::1]"} {
		m := brain()
		m.Bind = host + ":1"
		for _, line := range []string{m.Call(), m.Steps()[len(m.Steps())-1], m.BuildSteps()[len(m.BuildSteps())-1]} {
			// A shell function replaces the program. It prints each word that it gets.
			program, _, _ := strings.Cut(line, " ")
			c := exec.Command(sh, "-c", "show() { for w in \"$@\"; do printf '%s\\0' \"$w\"; done; }\n"+"show"+strings.TrimPrefix(line, program))
			c.Dir = dir
			out, err := c.Output()
			if err != nil {
				t.Errorf("%q: %v\n%s", host, err, line)
			}
			words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if !slices.Contains(words, m.Bind) && !slices.Contains(words, "http://"+m.Bind+"/graphs/team/mcp") {
				t.Errorf("%q: the shell reads %q", host, words)
			}
		}
	}
	if made, err := os.ReadDir(dir); len(made) > 0 || err != nil {
		t.Errorf("a line ran a command: %v %v", made, err)
	}
}

// TestReadmeTellsTheSteps checks that the README has the commands that gq init prints.
func TestReadmeTellsTheSteps(t *testing.T) {
	m := brain()
	m.Bind = "0.0.0.0:81"
	readme := string(rendered(t, m)["README.md"])
	for _, step := range slices.Concat(m.Steps(), m.BuildSteps(), []string{m.Call()}) {
		if !strings.Contains(readme, "\n    "+step+"\n") {
			t.Errorf("README.md lacks %s:\n%s", step, readme)
		}
	}
	if !strings.Contains(m.Call(), "http://127.0.0.1:81/") {
		t.Errorf("the call is %s", m.Call())
	}
}

// TestDockerfileCollects runs the command of the Dockerfile that collects the files of the graphs, in a module
// that has a second graph and files that do not belong into the image.
func TestDockerfileCollects(t *testing.T) {
	files := rendered(t, brain())
	command := regexp.MustCompile(`find \. (?s:.*?) \\;`).FindString(string(files["Dockerfile"]))
	if command == "" || !strings.Contains(string(files["Dockerfile"]), "COPY --from=build /out/app/ ./\n") {
		t.Fatalf("the Dockerfile collects nothing:\n%s", files["Dockerfile"])
	}
	for _, name := range []string{"hiring/schema.pg", "hiring/queries/a.gq", "hiring/policy.cedar", "vendor/x/y.pg", ".hidden/z.yaml"} {
		files[name] = nil
	}
	dir, to := t.TempDir(), t.TempDir()
	if err := Write(filepath.Join(dir, "brain"), files); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(command, "/out/app", to))
	cmd.Dir = filepath.Join(dir, "brain")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the command needs GNU cp, as in the image: %v, %s", err, out)
	}
	var got []string
	err := fs.WalkDir(os.DirFS(to), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			got = append(got, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cluster.yaml", "hiring/policy.cedar", "hiring/queries/a.gq", "hiring/schema.pg", "policy.cases.yaml", "policy.yaml",
		"queries/checks.gq", "queries/decisions.gq", "queries/documents.gq", "queries/people.gq", "schema.pg",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the image has %v, want %v", got, want)
	}
}

// TestFillCanBeRepeated makes loading the seed fail. The graph that cluster apply created, and its
// record, must then be removed, because cluster apply refuses to create a graph that it has
// recorded.
func TestFillCanBeRepeated(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), rendered(t, brain())["Makefile"], 0o644); err != nil {
		t.Fatal(err)
	}
	const tool = `#!/bin/sh
case "$*" in
*"cluster apply"*) test ! -e data/` + reconcile.RevisionFile + ` && mkdir -p data/team && touch data/` + reconcile.RevisionFile + ` ;;
*) test -e loads ;;
esac
`
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(tool), 0o755); err != nil {
		t.Fatal(err)
	}
	fill := func() error {
		cmd := exec.Command("make", "data/team")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		return cmd.Run()
	}
	names := []string{"data/team", "data/" + reconcile.RevisionFile}
	if err := fill(); err == nil {
		t.Error("the command succeeded although the load failed")
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s still exists after the load failed: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "loads"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "data", reconcile.RevisionFile)
	if err := os.WriteFile(record, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fill(); err == nil {
		t.Error("the command succeeded although the apply was refused")
	}
	if err := os.Remove(record); err != nil {
		t.Errorf("the record of a lost graph was removed: %v", err)
	}
	if err := fill(); err != nil {
		t.Error(err)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
