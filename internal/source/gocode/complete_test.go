package gocode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// bareEnv returns the environment without the settings of the go command that this machine has, which may
// hide what the defaults do.
func bareEnv(more ...string) []string {
	var env []string
	for _, set := range os.Environ() {
		name, _, _ := strings.Cut(set, "=")
		settings := strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || name == "CC" || name == "CXX"
		if !settings || name == "GOCACHE" || name == "GOMODCACHE" || name == "GOPATH" {
			env = append(env, set)
		}
	}
	return append(append(env, "GOENV=off", "GOPROXY=off"), more...)
}

// summary returns the edges of a graph, the modules that it requires and what it does not cover, one per line, without the prefix
// example.com/.
func summary(g *codegraph.Graph) string {
	var b strings.Builder
	for _, s := range g.Symbols {
		mark := ""
		if s.Test {
			mark += " in a test"
		}
		if s.External {
			mark += " external"
		}
		fmt.Fprintf(&b, "%s %s line %d %q %q%s\n", s.Kind, s.Path, s.Line, s.Signature, s.Doc, mark)
	}
	for _, f := range g.Files {
		fmt.Fprintf(&b, "file %s %d lines\n", f.Path, f.Lines)
	}
	for _, l := range g.Imports {
		fmt.Fprintf(&b, "%s imports %s\n", l.From, l.To)
	}
	for _, l := range g.Holds {
		fmt.Fprintf(&b, "%s holds %s\n", l.From, l.To)
	}
	for _, l := range g.Satisfies {
		fmt.Fprintf(&b, "%s satisfies %s\n", l.From, l.To)
	}
	for _, l := range g.MethodOf {
		fmt.Fprintf(&b, "%s is a method of %s\n", l.From, l.To)
	}
	for _, c := range g.Calls {
		fmt.Fprintf(&b, "%s calls %s %d\n", c.From, c.To, c.Count)
	}
	for _, c := range g.Refers {
		fmt.Fprintf(&b, "%s refers %s %d\n", c.From, c.To, c.Count)
	}
	for _, m := range g.Modules {
		if m.Version != "" {
			fmt.Fprintf(&b, "module %s %s\n", m.Path, m.Version)
		}
		for _, phrase := range m.NotCovered {
			fmt.Fprintf(&b, "%s lacks %s\n", m.Path, phrase)
		}
	}
	return strings.ReplaceAll(b.String(), "example.com/", "")
}

// TestComplete reads modules with what is easily left out.
func TestComplete(t *testing.T) {
	const module = "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n"
	for _, tt := range []struct {
		name, text string
		dir        string // below the folder
		patterns   []string
		want       []string // lines of the summary
		absent     []string // parts of the summary that must be absent
	}{
		{
			name: "line comments",
			text: module + "-- gen.go --\npackage m\n\n//line expr.y:10\nfunc Parse() { step() }\n\n/*line ../../other.go:7:3*/func step() {}\n\n//line /etc/passwd:1\ntype T struct{}\n\nfunc (T) M() { Parse() }\n" +
				"-- use.go --\npackage m\n\nfunc Use() { Parse() }\n",
			want: []string{
				`func m.Parse line 4 "func()" ""`, `func m.step line 6 "func()" ""`, `type m.T line 9 "struct with 0 fields" ""`, `method m.T.M line 11 "func()" ""`,
				"m.Use calls m.Parse 1", "m.Parse calls m.step 1", "m.T.M calls m.Parse 1", "file gen.go 11 lines",
			},
		},
		{
			name: "callers without a name",
			text: module + "-- a.go --\npackage m\n\nfunc init() { F(); F() }\n\nfunc init() { G() }\n\nvar _ = F()\n\nvar _, x = F(), G()\n\nfunc _() { G() }\n\ntype T struct{}\n\nfunc (T) _() { F() }\n\ntype _ struct{ t T }\n\nconst (\n\t_ = iota\n\tc\n)\n\nvar named = F()\n\nfunc F() int { return 1 }\n\nfunc G() int { return c }\n" +
				"-- b.go --\npackage m\n\nfunc init() { F() }\n",
			want: []string{
				"m.init calls m.F 2", "m.init(2) calls m.G 1", "m.init(3) calls m.F 1", "m._ calls m.F 1", "m._(2) calls m.F 1", "m.x calls m.G 1",
				"m._(3) calls m.G 1", "m.T._ calls m.F 1", "m._(4) refers m.T 1", "m.named calls m.F 1", `var m._ line 7 "int" ""`,
			},
			absent: []string{"m._(5)"}, // the constant refers to nothing
		},
		{
			name: "two declarations with one path",
			text: module + "-- yaml/yaml.go --\npackage yaml\n\ntype v3 struct{}\n\nfunc (v3) Marshal() { one() }\n\nfunc one() {}\n" +
				"-- yaml.v3/yaml.go --\npackage yaml\n\nfunc Marshal() { two() }\n\nfunc two() {}\n",
			want: []string{"m/yaml.v3.Marshal calls m/yaml.one 1", "m/yaml.v3.Marshal(2) calls m/yaml.v3.two 1"},
		},
		{
			name: "a workspace",
			text: "-- w/go.work --\ngo 1.25\n\nuse (\n\t./app\n\t./lib\n\t../outside\n)\n-- w/app/go.mod --\nmodule example.com/app\n\ngo 1.25\n-- w/app/main.go --\npackage main\n\nimport \"example.com/lib\"\n\nfunc main() { lib.Hello() }\n" +
				"-- w/lib/go.mod --\nmodule example.com/lib\n\ngo 1.25\n-- w/lib/lib.go --\npackage lib\n\nfunc Hello() {}\n-- w/lib/not/go.mod --\nmodule example.com/not\n-- outside/go.mod --\nmodule example.com/outside\n\ngo 1.25\n-- outside/o.go --\npackage outside\n",
			dir:    "w",
			want:   []string{"app.main calls lib.Hello 1", "file app/main.go 5 lines", "app lacks 1 modules that go.work names outside of the folder; name their folders to read them", "lib lacks 1 modules in folders below this one"},
			absent: []string{"outside."},
		},
		{
			name: "one package in two modules",
			text: "-- a/go.mod --\nmodule example.com/a\n\ngo 1.25\n-- a/b/b.go --\npackage b\n\nfunc F() { G() }\n\nfunc G() {}\n-- other/go.mod --\nmodule example.com/a/b\n\ngo 1.25\n-- other/b.go --\npackage b\n\nfunc F() { G() }\n\nfunc G() {}\n",
			want: []string{"a lacks 2 declarations of all modules whose path another one has, such as those of one package in two modules", "a/b.F calls a/b.G 1"},
		},
		{
			name:     "a workspace with a pattern",
			text:     "-- go.work --\ngo 1.25\n\nuse ./lib\n-- lib/go.mod --\nmodule example.com/lib\n\ngo 1.25\n-- lib/lib.go --\npackage lib\n\nfunc Hello() {}\n",
			patterns: []string{"./..."},
			want:     []string{`func lib.Hello line 3 "func()" ""`},
		},
		{
			name:   "a module of a workspace",
			text:   "-- go.work --\ngo 1.25\n\nuse (\n\t./app\n\t./lib\n)\n-- app/go.mod --\nmodule example.com/app\n\ngo 1.25\n-- app/a.go --\npackage app\n\nfunc A() {}\n-- lib/go.mod --\nmodule example.com/lib\n\ngo 1.25\n-- lib/lib.go --\npackage lib\n\nfunc Hello() {}\n",
			dir:    "lib",
			want:   []string{`func lib.Hello line 3 "func()" ""`},
			absent: []string{"app"},
		},
		{
			name: "a module that is not in the workspace above it",
			text: "-- go.work --\ngo 1.25\n\nuse ./app\n-- app/go.mod --\nmodule example.com/app\n\ngo 1.25\n-- app/a.go --\npackage app\n-- lib/go.mod --\nmodule example.com/lib\n\ngo 1.25\n-- lib/lib.go --\npackage lib\n\nfunc Hello() {}\n",
			dir:  "lib",
			want: []string{`func lib.Hello line 3 "func()" ""`},
		},
		{
			name: "a workspace whose modules require different versions",
			text: "-- go.work --\ngo 1.25\n\nuse (\n\t./a\n\t./b\n)\n\nreplace (\n\texample.com/x => ./x\n\texample.com/y => ./y\n)\n-- x/go.mod --\nmodule example.com/x\n-- y/go.mod --\nmodule example.com/y\n" +
				"-- a/go.mod --\nmodule example.com/a\n\ngo 1.25\n\nrequire (\n\texample.com/x v1.9.0\n\texample.com/y v1.10.0\n)\n-- a/a.go --\npackage a\n" +
				"-- b/go.mod --\nmodule example.com/b\n\ngo 1.25\n\nrequire (\n\texample.com/x v1.10.0\n\texample.com/y v1.9.0\n)\n-- b/b.go --\npackage b\n",
			want: []string{"module x v1.10.0", "module y v1.10.0"},
		},
		{
			name: "cgo",
			text: module + "-- c.go --\npackage m\n\n// typedef struct { int x; } pt;\n// #cgo pkg-config: nothing\nimport \"C\"\n\nimport \"unsafe\"\n\ntype Pt C.pt\n\n// Twice doubles.\nfunc Twice(a C.int, p unsafe.Pointer) C.int { n, err := C.f(a); _ = err; plain(); return 2 * n }\n\nvar Size C.int\n\nfunc plain() {}\n" +
				"-- d.go --\npackage m\n\nimport \"example.com/m/only\"\n\nfunc D() { Twice(1, nil); only.Only() }\n-- only/only.go --\npackage only\n\nimport \"C\"\n\nfunc Only() {}\n-- nocgo.go --\n//go:build !cgo\n\npackage m\n\nfunc Twice(a, b int) int { return 0 }\n-- x.c --\nint f(int a) { return a; }\n",
			want: []string{
				`type m.Pt line 9 "C.pt" ""`, `func m.Twice line 12 "func(a C.int, p unsafe.Pointer) C.int" "Twice doubles."`, `var m.Size line 14 "C.int" ""`,
				"m.Twice calls m.plain 1", "m.D calls m.Twice 1", "m.D calls m/only.Only 1", "m imports unsafe", "m lacks what C declares, which 2 packages use with cgo",
				"m lacks 1 files that the build leaves out, such as those for other platforms", "m lacks 1 files in assembly, C and other languages",
			},
			absent: []string{"runtime/cgo", "syscall", "_Ctype", "invalid type"},
		},
		{
			name: "what is left out",
			text: module + "-- a.go --\npackage m\n\nimport (\n\t\"reflect\"\n\t\"strings\"\n)\n\ntype S struct{ a, b int }\n\ntype G[T any] struct{ f func() }\n\nvar u interface{ M() }\n\nfunc F(p func()) {\n\tlocal := 1\n\t_ = local\n\tp()\n\tG[int]{}.f()\n\tfunc() { strings.ToUpper(\"x\") }()\n\treflect.ValueOf(p).Call(nil)\n\t_ = int(3)\n}\n" +
				"-- a_test.go --\n//go:build never\n\npackage m\n-- b_test.go --\npackage m_test\n-- a_plan9.go --\npackage m\n-- a.s --\n-- sub/go.mod --\nmodule example.com/sub\n",
			want: []string{
				"m lacks 1 files with tests, which the build leaves out", "m lacks 1 files that the build leaves out, such as those for other platforms", "m lacks 1 files in assembly, C and other languages",
				"m lacks 1 modules in folders below this one", "m lacks 3 fields of structs", "m lacks 2 calls through variables", "m lacks what 2 references to package reflect call",
				"m lacks which interfaces 1 generic types implement with some type arguments only, or which types implement them",
				"m lacks the code of dependencies: of 3 of their symbols only the name and the type", "m lacks which types of dependencies implement interfaces",
			},
		},
		{
			name: "tests",
			text: module + "-- a.go --\npackage m\n\n// Store stores.\ntype Store interface{ Put(T) }\n\ntype T struct{}\n\nfunc F() { hidden() }\n\nfunc hidden() {}\n\nfunc init() {}\n" +
				"-- a_test.go --\npackage m\n\nimport \"testing\"\n\ntype fake struct{}; type doer interface{ Do(T) }\n\nfunc (fake) Put(T) { hidden() }\n\nfunc init() { F() }\n\nfunc helper() Store { return fake{} }\n\nfunc TestF(t *testing.T) { helper().Put(T{}); F() }\n" +
				"-- b_test.go --\npackage m_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m\"\n\t\"example.com/m/q\"\n)\n\ntype outer struct{}\n\nfunc (outer) Put(m.T) {}\n\nfunc TestOutside(t *testing.T) { m.F(); q.Q() }\n" +
				"-- q/q.go --\npackage q\n\nimport \"example.com/m\"\n\nfunc Q() { m.F() }\n-- only/only_test.go --\npackage only\n\nimport \"example.com/m\"\n\nvar _ = m.T{}\n-- bad/bad.go --\npackage bad\n-- bad/bad_test.go --\npackage bad\n\nimport \"example.com/nowhere\"\n\nfunc use() { nowhere.X(); kept() }\n\nfunc kept() {}\n",
			want: []string{
				"func m.TestF line 13 \"func(t *testing.T)\" \"\" in a test", "func m_test.TestOutside line 14 \"func(t *testing.T)\" \"\" in a test", `func m.F line 8 "func()" ""`,
				"m.TestF calls m.helper 1", "m.TestF calls m.Store.Put 1", "m.TestF calls m.F 1", "m.TestF refers m.T 1", "m.init(2) calls m.F 1", "m_test.TestOutside calls m.F 1", "m_test.TestOutside calls m/q.Q 1", "m.fake.Put calls m.hidden 1",
				"m.fake satisfies m.Store", "m.fake.Put satisfies m.Store.Put", "m_test.outer satisfies m.Store", "m_test.outer.Put satisfies m.Store.Put", "m_test.outer.Put is a method of m_test.outer",
				"m.test holds m.TestF", "m.test holds m_test.TestOutside", "m.test imports m", "m.test imports m/q", "m.test imports testing", "m/only.test imports m", "m/only._ refers m.T 1",
				"file a_test.go 13 lines", "m/bad.use calls m/bad.kept 1", "m lacks 1 references in tests, because they have errors, such as imports of modules that are not there",
				"m lacks which types outside of tests implement 1 interfaces that tests declare",
			},
			absent: []string{"m imports testing"},
		},
		{
			name: "interfaces",
			text: module + "-- a.go --\npackage m\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\t\"time\"\n)\n\ntype Reader interface {\n\tio.Reader\n\tClose() error\n}\n\ntype base struct{}\n\nfunc (*base) Close() error { return nil }\n\ntype File struct{ *base }\n\nfunc (File) Read([]byte) (int, error) { fmt.Println(time.Now().Unix()); return 0, nil }\n\n" +
				"type Short = interface{ Close() error }\n\ntype Alias = File\n\nfunc (a Alias) Extra() { var s Short = a; s.Close() }\n\ntype Box[T any] struct{ v T }\n\nfunc (b *Box[T]) Close() error { return nil }\n\nfunc use(a Alias) { fmt.Fprint(io.Discard, a) }\n",
			want: []string{
				"m.File satisfies m.Reader", "m.File.Read satisfies io.Reader.Read", "m.base.Close satisfies m.Reader.Close", "m.base.Close satisfies m.Short.Close", "m.base satisfies m.Short", "m.Box satisfies m.Short", "m.Box.Close satisfies m.Short.Close",
				"m.File satisfies io.Reader", "m.Reader satisfies io.Reader", "m.Reader satisfies m.Short", "m.File.Extra is a method of m.File", "m.File.Extra calls m.Short.Close 1", "m.Short.Close is a method of m.Short", "m.use refers m.Alias 1", "m.Alias refers m.File 1",
				`func time.Now line 0 "func() Time" "" external`, "m.File.Read calls time.Now 1", "m.File.Read calls time.Time.Unix 1", "m.File.Read calls fmt.Println 1", "time holds time.Now", "m.use refers io.Discard 1",
			},
			absent: []string{"m.Box satisfies m.Reader", "file std/"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := Read(t.Context(), Options{Dir: filepath.Join(txtarFolder(t, tt.text), tt.dir), Patterns: tt.patterns, Env: bareEnv()})
			if err != nil {
				t.Fatal(err)
			}
			got := summary(g)
			lines := strings.Split(got, "\n")
			for _, want := range tt.want {
				if !slices.Contains(lines, want) {
					t.Errorf("the line %q is missing in\n%s", want, got)
				}
			}
			for _, absent := range tt.absent {
				if strings.Contains(got, absent) {
					t.Errorf("found %q in\n%s", absent, got)
				}
			}
			paths := map[string]bool{}
			for _, s := range g.Symbols {
				if paths[s.Path] {
					t.Errorf("two symbols are %s", s.Path)
				}
				paths[s.Path] = true
			}
		})
	}
}

// TestLinkedWorkspace reads a module of a workspace that GOWORK names through a symbolic link.
func TestLinkedWorkspace(t *testing.T) {
	dir := txtarFolder(t, "-- w/go.work --\ngo 1.25\n\nuse (\n\t./app\n\t./lib\n)\n-- w/app/go.mod --\nmodule example.com/app\n\ngo 1.25\n-- w/app/main.go --\npackage main\n\nimport \"example.com/lib\"\n\nfunc main() { lib.Hello() }\n"+
		"-- w/lib/go.mod --\nmodule example.com/lib\n\ngo 1.25\n-- w/lib/lib.go --\npackage lib\n\nfunc Hello() {}\n")
	if err := os.Symlink("w", filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"w/app", "linked/app"} {
		g, err := Read(t.Context(), Options{Dir: filepath.Join(dir, at), Env: bareEnv("GOWORK=" + filepath.Join(dir, "linked", "go.work"))})
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if got, want := summary(g), "app imports lib\n"; !strings.Contains(got, want) {
			t.Errorf("%s: the line %q is missing in\n%s", at, want, got)
		}
	}
}

// TestRunsNothing reads a tree that names commands wherever Git and the go command may run one.
func TestRunsNothing(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir := txtarFolder(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n\ntoolchain go1.99.0\n-- go.env --\nGOFLAGS=-toolexec=./run\n-- a.go --\npackage m\n\n//go:generate ./run\nfunc F() {}\n"+
		"-- c.go --\npackage m\n\n// #cgo pkg-config: x\n// #cgo CFLAGS: -fplugin=./run\nimport \"C\"\n\nfunc G() { C.g() }\n-- cmd/main.go --\npackage main\n\nimport \"example.com/m\"\n\nfunc main() { m.F() }\n-- .gitattributes --\n* filter=x\n")
	past := time.Unix(1_000_000_000, 0)
	ran := filepath.Join(t.TempDir(), "ran")
	run := filepath.Join(dir, "run")
	if err := os.WriteFile(run, []byte("#!/bin/sh\ntouch "+ran+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "one"},
		{"config", "filter.x.clean", run}, {"config", "filter.x.process", run}, {"config", "core.fsmonitor", run}, {"config", "core.hooksPath", dir}, {"config", "diff.external", run}} {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, "a.go"), past, past); err != nil { // so that Git would read it again
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, env := range [][]string{
		bareEnv(), bareEnv("GOFLAGS=-toolexec=./run -vet=off"), bareEnv("GOFLAGS=-mod=mod -modfile=other.mod"), bareEnv("GOFLAGS=-overlay=go.env"), bareEnv("GOPACKAGESDRIVER=" + run),
		bareEnv("CC="+run, "CXX="+run, "PKG_CONFIG="+run, "CGO_ENABLED=1"), bareEnv("GOTOOLCHAIN=auto"), bareEnv("GOENV=" + filepath.Join(dir, "go.env")),
	} {
		g, err := Read(t.Context(), Options{Env: env, Revision: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(g); !strings.Contains(got, "m/cmd.main calls m.F 1") || !strings.Contains(got, "func m.G line 7") {
			t.Errorf("the graph is not complete:\n%s", got)
		}
		if m := g.Modules[0]; len(m.Commit) != 40 || m.Modified == nil || *m.Modified {
			t.Errorf("found the module %+v", m)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Fatalf("a command of the tree was run with %q", env[len(env)-3:])
		}
	}
}

// TestUntracked reads a module with a file that Git does not track, and one in no repository.
func TestUntracked(t *testing.T) {
	dir := txtarFolder(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n-- a.go --\npackage m\n-- .gitignore --\ngen.go\n*.log\n")
	read := func() codegraph.Module {
		t.Helper()
		g, err := Read(t.Context(), Options{Dir: dir, Env: bareEnv(), Revision: true})
		if err != nil {
			t.Fatal(err)
		}
		return g.Modules[0]
	}
	if m := read(); m.Commit != "" || m.Modified != nil || !strings.Contains(strings.Join(m.NotCovered, "\n"), "the commit: the folder") {
		t.Errorf("without a repository: found %+v", m)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "one"}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = dir; cmd.Run() != nil {
			t.Skip("no git")
		}
	}
	for _, tt := range []struct {
		add  string
		want bool
	}{{"x.log", false}, {"gen.go", true}} { // a file that Git ignores is in the graph, but not in the commit
		if err := os.WriteFile(filepath.Join(dir, tt.add), []byte("package m\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if m := read(); len(m.Commit) != 40 || m.Modified == nil || *m.Modified != tt.want {
			t.Errorf("with %s: found %+v, want modified %v", tt.add, m, tt.want)
		}
	}
}

func TestWithoutDirect(t *testing.T) {
	for in, want := range map[string]string{
		"https://a,direct": "https://a", "direct": "off", "": "off", "https://a|direct|https://b,off": "https://a|https://b,off", " direct , https://a": "https://a", "off": "off",
	} {
		if got := strings.TrimSpace(withoutDirect(in)); got != want {
			t.Errorf("withoutDirect(%q) = %q, want %q", in, got, want)
		}
	}
}
