package omnigraph

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// systemClock lists the files that may read the system's clock, each with the reason. A pattern
// that ends in /** matches all files below a folder. All other files must use package
// internal/clock or a clock in their options, so that the tests can run at another date.
//
// Arguments of SetDeadline, SetReadDeadline and SetWriteDeadline need no row: the runtime compares
// deadlines of connections with the system's clock.
var systemClock = []struct{ file, reason string }{
	{"internal/clock/**", "it is where the others get the time"},
	{"client/request.go", "it compares with the deadline of a context, which the runtime computes from the system's clock"},
	{"engine/embedded/trace.go", "spans of operators lie within a span whose end the tracer reads from the system's clock"},
	{"internal/source/gocode/**", "it compares with the times of files, which file systems take from the system's clock"},
	{"internal/server/clientconn.go", "it compares with the deadlines of connections, which net/http computes from the system's clock"},
	{"internal/server/clientconn_test.go", "it compares with the deadlines of connections"},
	{"internal/server/servedgraph/timelimit.go", "it makes deadlines of contexts, which the runtime compares with the system's clock"},
	{"internal/server/operations/watch.go", "it compares with the deadline of a context, which the runtime compares with the system's clock"},
	{"internal/server/observe/observe_test.go", "it compares with the deadline of a connection"},
	{"bench/peers/**", "a module of its own that measures durations, and dates its report"},
	{"bench/sqlc/**", "a module of its own that measures durations"},
}

// clocks lists the functions that read the system's clock, by import path.
var clocks = map[string][]string{
	"time":                     {"Now", "Since", "Until"},
	"github.com/oklog/ulid/v2": {"Now", "Make"},
}

// TestSystemClock checks every Go file that is not generated, including tests and the other modules
// of the repository.
func TestSystemClock(t *testing.T) {
	used, files := make([]bool, len(systemClock)), 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || path == "data"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		found, err := clockReads(path, src)
		if err != nil {
			return err
		}
		files++
		if len(found) == 0 {
			return nil
		}
		row := slices.IndexFunc(systemClock, func(r struct{ file, reason string }) bool { return matches(r.file, path) })
		if row >= 0 {
			used[row] = true
			return nil
		}
		for _, f := range found {
			t.Errorf("%s, so a test of it depends on the date; call the same function of internal/clock, or take a clock in the options, where nil means clock.Now", f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range systemClock {
		if !used[i] {
			t.Errorf("%s does not read the system's clock; remove its row from systemClock", r.file)
		}
	}
	if files < 500 {
		t.Errorf("the test read %d files, too few to mean anything", files)
	}
}

// clockReads lists the positions where a file reads the system's clock, except in deadlines of
// connections. It resolves the names of imports and skips generated files.
func clockReads(name string, src []byte) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var found []string
	imported := map[string][]string{} // function names by the local name of the import
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		functions := clocks[path]
		if functions == nil {
			continue
		}
		local := "ulid"
		if path == "time" {
			local = "time"
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." {
			found = append(found, fmt.Sprintf("%s: a dot import of %s hides calls of its clock", fset.Position(spec.Pos()), path))
		}
		imported[local] = functions
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if setsDeadline(n) {
				ast.Inspect(n.Fun, visit)
				return false
			}
		case *ast.SelectorExpr:
			// The parser sets Obj for a variable declared in this file, but not for an import. So
			// an identifier without Obj is the import, not a variable of the same name.
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(imported[x.Name], n.Sel.Name) {
				found = append(found, fmt.Sprintf("%s: %s.%s reads the system's clock", fset.Position(n.Pos()), x.Name, n.Sel.Name))
			}
		}
		return true
	}
	ast.Inspect(file, visit)
	return found, nil
}

func setsDeadline(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}, f.Sel.Name)
}

func TestClockReads(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"call", "import \"time\"\nvar a = time.Now()", []string{"x.go:3:9: time.Now reads the system's clock"}},
		{"value", "import \"time\"\nvar a = time.Now", []string{"x.go:3:9: time.Now reads the system's clock"}},
		{"renamed", "import wall \"time\"\nvar a = wall.Since(b)", []string{"x.go:3:9: wall.Since reads the system's clock"}},
		{"until", "import \"time\"\nfunc f() { g(time.Until(a), time.Until(b)) }", []string{"x.go:3:14: time.Until reads the system's clock", "x.go:3:29: time.Until reads the system's clock"}},
		{"dot", "import . \"time\"\nvar a = Now()", []string{"x.go:2:8: a dot import of time hides calls of its clock"}},
		{"ulid", "import \"github.com/oklog/ulid/v2\"\nvar a, b = ulid.Make(), ulid.New(ulid.Now(), nil)", []string{"x.go:3:12: ulid.Make reads the system's clock", "x.go:3:34: ulid.Now reads the system's clock"}},
		{"behind a method", "import \"time\"\nvar a = time.Now().Add(1).UTC()", []string{"x.go:3:9: time.Now reads the system's clock"}},
		{"deadline elsewhere", "import \"time\"\nfunc f() { g.SetLimit(time.Now()) }", []string{"x.go:3:23: time.Now reads the system's clock"}},

		{"of the module", "import \"time\"\nimport \"x/internal/clock\"\nvar a, b = clock.Now(), time.Second", nil},
		{"another package", "import \"x/time\"\nvar a = time.Now()", nil},
		{"no import", "var a = time.Now()", nil},
		{"variable", "import \"time\"\nfunc f(time c) { time.Now() }\nvar a = time.Second", nil},
		{"other function", "import \"time\"\nvar a = time.Date(1, 1, 1, 1, 1, 1, 1, time.UTC)", nil},
		{"comment and text", "import \"time\"\n// time.Now()\nvar a, b = \"time.Now()\", time.UTC", nil},
		{"socket", "import \"time\"\nfunc f() { c.SetDeadline(time.Now().Add(1)); c.SetReadDeadline(time.Now()); g(c).SetWriteDeadline(time.Now()) }", nil},
		{"before a socket", "import \"time\"\nfunc f() { g(time.Now()).SetDeadline(a) }", []string{"x.go:3:14: time.Now reads the system's clock"}},
	} {
		got, err := clockReads("x.go", []byte("package x\n"+tt.src))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	generated := "// Code generated by a test. DO NOT EDIT.\n\npackage x\n\nimport \"time\"\n\nvar a = time.Now()\n"
	if got, err := clockReads("x.go", []byte(generated)); got != nil || err != nil {
		t.Errorf("generated: %q, %v; want nothing", got, err)
	}
}
