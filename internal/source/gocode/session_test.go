package gocode

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

var (
	editSteps = flag.Int("gocode.steps", 200, "number of steps of the random edits")
	editSeed  = flag.Uint64("gocode.seed", 1, "seed of the random edits")
)

// edits changes a tree of a few packages at random. Package p<n> may import packages with smaller numbers.
type edits struct {
	t   *testing.T
	rng *rand.Rand
	dir string
	old map[string]string // an earlier state of the files
}

// names of the declarations that files may have.
var names = []string{"Get", "Put", "Run", "Stop"}

// text returns the text of a file of a package. Two files of a package may declare the same name, which does not compile.
func (e *edits) text(pkg, file int, test bool) string {
	var b strings.Builder
	if e.rng.IntN(12) == 0 {
		b.WriteString("//go:build linux\n\n")
	}
	fmt.Fprintf(&b, "package p%d\n\n", pkg)
	imports := map[int]bool{}
	for range e.rng.IntN(3) {
		if pkg > 0 {
			imports[e.rng.IntN(pkg)] = true
		}
	}
	for dep := range 6 {
		if imports[dep] {
			fmt.Fprintf(&b, "import \"example.com/m/p%d\"\n", dep)
		}
	}
	b.WriteString("\n")
	suffix := fmt.Sprint(file)
	if e.rng.IntN(30) == 0 {
		suffix = "0"
	}
	if test {
		suffix += "t"
		fmt.Fprintf(&b, "func Test%s() { F%d() }\n", suffix, file)
	}
	fmt.Fprintf(&b, "// F%s has the number %d.\nfunc F%s() {", suffix, e.rng.IntN(5), suffix)
	for dep := range 6 {
		if imports[dep] {
			fmt.Fprintf(&b, " p%d.F0();", dep)
			if e.rng.IntN(3) == 0 {
				fmt.Fprintf(&b, " var i%[1]d p%[1]d.I0; _ = i%[1]d;", dep)
			}
		}
	}
	b.WriteString(" }\n\n")
	fmt.Fprintf(&b, "type T%s struct{}\n\ntype I%s interface { %s() }\n", suffix, suffix, names[e.rng.IntN(len(names))])
	for _, name := range names {
		if e.rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "\nfunc (T%s) %s() {}\n", suffix, name)
		}
	}
	return b.String()
}

// files returns the Go files of the tree.
func (e *edits) files() map[string]string {
	all := map[string]string{}
	found, err := filepath.Glob(filepath.Join(e.dir, "*", "*.go"))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, name := range found {
		text, err := os.ReadFile(name)
		if err != nil {
			e.t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

func (e *edits) write(name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// step changes the tree once, and says how.
func (e *edits) step() string {
	files := e.files()
	sorted := make([]string, 0, len(files))
	for name := range files {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	one := sorted[e.rng.IntN(len(sorted))]
	pkg, file := e.rng.IntN(6), e.rng.IntN(3)
	name := filepath.Join(e.dir, fmt.Sprintf("p%d", pkg), fmt.Sprintf("f%d.go", file))
	switch n := e.rng.IntN(20); {
	case n < 9: // a change of a body or a comment
		e.write(one, strings.Replace(files[one], "() {", "() { println(1);", 1)+fmt.Sprintf("\n// %d\n", e.rng.IntN(100)))
		return "edit " + one
	case n < 12:
		e.write(name, e.text(pkg, file, false))
		return "write " + name
	case n < 14:
		name = strings.TrimSuffix(name, ".go") + "_test.go"
		e.write(name, e.text(pkg, file, true))
		return "write " + name
	case n < 15 && len(sorted) > 6:
		if err := os.Remove(one); err != nil {
			e.t.Fatal(err)
		}
		return "remove " + one
	case n < 16:
		to := filepath.Join(filepath.Dir(one), fmt.Sprintf("g%d.go", e.rng.IntN(3)))
		if err := os.Rename(one, to); err != nil {
			e.t.Fatal(err)
		}
		return "rename " + one
	case n < 17:
		e.write(one, files[one]+"\nfunc {\n")
		return "break " + one
	default:
		return e.goBack(files)
	}
}

// goBack restores the earlier state of the files, as a switch of branches does.
func (e *edits) goBack(files map[string]string) string {
	for name := range files {
		if _, ok := e.old[name]; !ok {
			_ = os.Remove(name)
		}
	}
	for name, text := range e.old {
		if files[name] != text {
			e.write(name, text)
		}
	}
	return "go back"
}

// linesOf returns a graph as NDJSON, without the time of the reading.
func linesOf(t *testing.T, g *codegraph.Graph) []string {
	t.Helper()
	copied := *g
	copied.Modules = slices.Clone(g.Modules)
	for i := range copied.Modules {
		copied.Modules[i].ReadAt = time.Time{}
	}
	var b bytes.Buffer
	if _, err := copied.WriteNDJSON(&b); err != nil {
		t.Fatal(err)
	}
	return strings.Split(b.String(), "\n")
}

// TestSessionEdits changes a tree at random, and compares what a session reads with a full reading.
func TestSessionEdits(t *testing.T) {
	slow.Test(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &edits{t: t, rng: rand.New(rand.NewPCG(*editSeed, 0)), dir: dir}
	e.write(filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.25\n")
	for pkg := range 6 {
		e.write(filepath.Join(dir, fmt.Sprintf("p%d", pkg), "f0.go"), e.text(pkg, 0, false))
	}
	e.old = e.files()
	opts := Options{Dir: dir, Env: bareEnv(), Revision: true}
	s := NewSession(opts)
	defer s.Close()
	g, _, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	partial, compiled, broken := 0, 0, false
	var log []string
	for step := range *editSteps {
		for range 1 + e.rng.IntN(2) {
			log = append(log, e.step())
		}
		if broken && e.rng.IntN(3) > 0 {
			log = append(log, e.goBack(e.files()))
		}
		var changed []string
		for _, x := range Indexes(g) {
			state, err := x.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range state.Changed {
				changed = append(changed, filepath.Join(x.Folder, name))
			}
		}
		got, full, err := s.Read(t.Context(), changed)
		fresh, freshErr := Read(t.Context(), opts)
		if (err == nil) != (freshErr == nil) {
			t.Fatalf("step %d: the session found the error %v, a full reading %v, after\n%s", step, err, freshErr, strings.Join(log, "\n"))
		}
		if broken = err != nil; broken {
			continue
		}
		if compiled++; e.rng.IntN(3) == 0 {
			e.old = e.files()
		}
		if !full {
			partial++
		}
		g = got
		if diff := cmp.Diff(linesOf(t, fresh), linesOf(t, got)); diff != "" {
			t.Fatalf("step %d (full %v, changed %v): full reading (-), session (+)\n%s\nafter\n%s", step, full, changed, diff, strings.Join(log, "\n"))
		}
	}
	t.Logf("%d steps, %d compiled, %d of them read in part", *editSteps, compiled, partial)
	if *editSteps >= 200 && (compiled < *editSteps/4 || partial < compiled/5) {
		t.Errorf("too few steps compile or are read in part: %d of %d compile, %d are read in part", compiled, *editSteps, partial)
	}
}
