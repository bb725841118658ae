package gocode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// compared are modules whose graphs are compared with gopls. A workspace has several.
var compared = []struct {
	name    string
	modules []string
}{
	{"cobra", []string{"github.com/spf13/cobra@v1.10.2"}},
	{"gojq", []string{"github.com/itchyny/gojq@v0.12.18"}},
	{"tview", []string{"github.com/rivo/tview@v0.42.0"}},
	{"compress", []string{"github.com/klauspost/compress@v1.20.1"}},
	{"cgo", []string{"github.com/mattn/go-sqlite3@v1.14.53"}},
	{"generics", []string{"github.com/samber/lo@v1.53.0"}},
	{"workspace", []string{"github.com/spf13/cobra@v1.10.2", "github.com/spf13/pflag@v1.0.10"}},
	{"client-go", []string{"k8s.io/client-go@v0.37.0"}},
}

// drawnSymbols is the number of symbols that are compared in each module.
const drawnSymbols = 100

// TestGopls compares who refers to a symbol, who calls it and what implements it with what gopls says, for symbols that are drawn
// from public modules. Each difference must be one that the graph states.
func TestGopls(t *testing.T) {
	if os.Getenv("OMNIGRAPH_TEST_GOPLS") == "" {
		t.Skip("make test-gopls runs this test")
	}
	for _, m := range compared {
		t.Run(m.name, func(t *testing.T) { compareWithGopls(t, m.modules) })
	}
}

func compareWithGopls(t *testing.T, modules []string) {
	dir := t.TempDir()
	if len(modules) == 1 {
		copyModule(t, dir, modules[0])
	} else {
		work := "go 1.26\n"
		for _, m := range modules {
			name := filepath.Base(strings.Split(m, "@")[0])
			copyModule(t, filepath.Join(dir, name), m)
			work += "use ./" + name + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte(work), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "GOFLAGS=") || strings.HasPrefix(e, "GOWORK=") })
	g, err := Read(t.Context(), Options{Dir: dir, Env: env, Revision: true})
	if err != nil {
		t.Fatal(err)
	}
	c := newComparison(t, dir, g)
	s := startGopls(t, dir, env)
	for _, symbol := range c.draw(drawnSymbols) {
		c.compare(t, s, symbol)
	}
	t.Logf("%d symbols, %d answers of gopls; %d declarations in both answers; explained differences %v; not explained %d", drawnSymbols, c.asked, c.equal, c.explained, len(c.faults))
	for _, f := range c.faults {
		t.Error(f)
	}
}

// copyModule copies a module from the cache, and fetches what it requires.
func copyModule(t *testing.T, dir, module string) {
	t.Helper()
	run := func(in string, args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = in, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(run(t.TempDir(), "mod", "download", "-json", module), &found); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(found.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			err = os.Chmod(path, 0o755)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	run(dir, "mod", "download")
}

// comparison compares a graph with gopls.
type comparison struct {
	dir       string
	folders   map[string]string           // by module, its folder
	symbols   map[string]codegraph.Symbol // by path
	files     map[string]string           // by symbol, the absolute path of its file
	at        map[string]map[int][]string // by absolute path of a file and line, the symbols declared there
	users     map[string]map[string]bool  // by symbol, those that refer to it or call it
	related   map[string]map[string]bool  // by symbol, those that it satisfies and that satisfy it
	owner     map[string]string           // by method, its type
	parsed    map[string]*ast.File        // by absolute path
	fset      *token.FileSet
	notes     string // what the graph does not say about its modules
	asked     int
	equal     int
	explained map[string]int
	faults    []string
}

func newComparison(t *testing.T, dir string, g *codegraph.Graph) *comparison {
	t.Helper()
	c := &comparison{
		dir: dir, folders: map[string]string{}, symbols: map[string]codegraph.Symbol{}, files: map[string]string{}, at: map[string]map[int][]string{},
		users: map[string]map[string]bool{}, related: map[string]map[string]bool{}, owner: map[string]string{}, parsed: map[string]*ast.File{},
		fset: token.NewFileSet(), explained: map[string]int{},
	}
	for _, m := range g.Modules {
		if m.Main {
			c.folders[m.Path] = m.Folder
			c.notes += strings.Join(m.NotCovered, "\n") + "\n"
		}
	}
	for _, s := range g.Symbols {
		c.symbols[s.Path] = s
	}
	put := func(m map[string]map[string]bool, from, to string) {
		if m[from] == nil {
			m[from] = map[string]bool{}
		}
		m[from][to] = true
	}
	for _, l := range g.Declares {
		file := c.absolute(l.From)
		c.files[l.To] = file
		if c.at[file] == nil {
			c.at[file] = map[int][]string{}
		}
		line := c.symbols[l.To].Line
		c.at[file][line] = append(c.at[file][line], l.To)
	}
	for _, l := range slices.Concat(g.Calls, g.Refers) {
		put(c.users, l.To, l.From)
	}
	for _, l := range g.Satisfies {
		put(c.related, l.From, l.To)
		put(c.related, l.To, l.From)
	}
	for _, l := range g.MethodOf {
		c.owner[l.From] = l.To
	}
	return c
}

// absolute returns the absolute path of a file of the graph.
func (c *comparison) absolute(path string) string {
	if len(c.folders) == 1 {
		for _, dir := range c.folders {
			return filepath.Join(dir, path)
		}
	}
	for module, dir := range c.folders {
		if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			return filepath.Join(dir, rest)
		}
	}
	return path
}

// draw returns symbols of the modules.
func (c *comparison) draw(n int) []string {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(c.files)), func(path string) bool { return c.symbols[path].Name == "_" || c.symbols[path].Name == "init" })
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// compare compares the answers about a symbol.
func (c *comparison) compare(t *testing.T, s *languageServer, path string) {
	t.Helper()
	symbol, file := c.symbols[path], c.files[path]
	p, ok := c.place(file, symbol)
	if !ok {
		c.faults = append(c.faults, fmt.Sprintf("%s is not declared at line %d of %s", path, symbol.Line, file))
		return
	}
	same := c.family(path)
	c.asked++
	c.difference(t, s, "refers to", path, c.declarations(s.references(t, file, p)), c.usersOf(same), same)
	if symbol.Kind.IsCallable() {
		c.asked++
		c.difference(t, s, "calls", path, c.declarations(s.callers(t, file, p)), nil, same)
	}
	if symbol.Kind == codegraph.Type || symbol.Kind == codegraph.Interface || symbol.Kind == codegraph.Method {
		c.asked++
		related := maps.Clone(c.related[path])
		maps.DeleteFunc(related, func(other string, _ bool) bool { return c.symbols[other].External })
		c.difference(t, s, satisfying, path, c.declared(s.implementations(t, file, p)), related, nil)
	}
}

// family returns a symbol, and the methods that it implements or that implement it: gopls counts references to any of them.
func (c *comparison) family(path string) map[string]bool {
	same := map[string]bool{path: true}
	if c.symbols[path].Kind == codegraph.Method {
		maps.Copy(same, c.related[path])
	}
	return same
}

func (c *comparison) usersOf(symbols map[string]bool) map[string]bool {
	all := map[string]bool{}
	for s := range symbols {
		maps.Copy(all, c.users[s])
	}
	return all
}

// place returns the place of the name of a symbol in its file.
func (c *comparison) place(file string, s codegraph.Symbol) (position, bool) {
	f := c.parse(file)
	if f == nil {
		return position{}, false
	}
	var found *ast.Ident
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && id.Name == s.Name && c.fset.PositionFor(id.Pos(), false).Line == s.Line && !c.isReceiver(f, id) {
			found = id
		}
		return found == nil
	})
	if found == nil {
		return position{}, false
	}
	at := c.fset.PositionFor(found.Pos(), false)
	text, err := os.ReadFile(file)
	if err != nil {
		return position{}, false
	}
	before := string(text[at.Offset-at.Column+1 : at.Offset])
	return position{Line: at.Line - 1, Character: utf16Length(before)}, true
}

// isReceiver reports whether an identifier stands before the name of a method.
func (c *comparison) isReceiver(f *ast.File, id *ast.Ident) bool {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Recv.Pos() <= id.Pos() && id.Pos() < fn.Recv.End() {
			return true
		}
	}
	return false
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

func (c *comparison) parse(file string) *ast.File {
	if f, ok := c.parsed[file]; ok {
		return f
	}
	f, err := parser.ParseFile(c.fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		f = nil
	}
	c.parsed[file] = f
	return f
}

// mention is a place that refers to something.
type mention struct {
	at       string // file and line
	place    location
	within   []string // the symbols of the declaration that has it
	receiver bool     // it is the type of a receiver
}

// declarations returns the declarations that have places. Places outside of the folder are left out.
func (c *comparison) declarations(places []location) []mention {
	var all []mention
	for _, l := range places {
		file := l.file()
		if !strings.HasPrefix(file, c.dir+string(filepath.Separator)) {
			continue
		}
		m := mention{place: l, at: fmt.Sprintf("%s:%d", strings.TrimPrefix(file, c.dir+"/"), l.Range.Start.Line+1)}
		f := c.parse(file)
		if f == nil {
			all = append(all, m)
			continue
		}
		line := c.fset.File(f.Pos()).LineStart(min(l.Range.Start.Line+1, c.fset.File(f.Pos()).LineCount()))
		at := line + token.Pos(l.Range.Start.Character)
		for _, d := range f.Decls {
			if at < d.Pos() || d.End() <= at {
				continue
			}
			switch d := d.(type) {
			case *ast.FuncDecl:
				m.within = c.named(file, d.Name)
				m.receiver = d.Recv != nil && d.Recv.Pos() <= at && at < d.Recv.End()
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if at < spec.Pos() || spec.End() <= at {
						continue
					}
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						m.within = c.named(file, spec.Name)
						if it, ok := spec.Type.(*ast.InterfaceType); ok {
							for _, field := range it.Methods.List {
								if field.Pos() <= at && at < field.End() {
									m.within = append(m.within, c.named(file, field.Names...)...)
								}
							}
						}
					case *ast.ValueSpec:
						m.within = c.named(file, spec.Names...)
					}
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// declared returns the symbols that are declared at places.
func (c *comparison) declared(places []location) []mention {
	var all []mention
	for _, l := range places {
		if !strings.HasPrefix(l.file(), c.dir+string(filepath.Separator)) {
			continue
		}
		line := l.Range.Start.Line + 1
		all = append(all, mention{place: l, at: fmt.Sprintf("%s:%d", strings.TrimPrefix(l.file(), c.dir+"/"), line), within: c.at[l.file()][line]})
	}
	return all
}

// named returns the symbols that names in a file declare.
func (c *comparison) named(file string, names ...*ast.Ident) []string {
	var all []string
	for _, id := range names {
		for _, s := range c.at[file][c.fset.PositionFor(id.Pos(), false).Line] {
			if c.symbols[s].Name == id.Name {
				all = append(all, s)
			}
		}
	}
	return all
}

// difference compares the declarations that gopls finds with those of the graph. If `ours` is nil, only those of gopls must be in the
// graph, as users of one of the symbols `same`.
func (c *comparison) difference(t *testing.T, s *languageServer, what, path string, theirs []mention, ours, same map[string]bool) {
	t.Helper()
	have := ours
	if have == nil {
		have = c.usersOf(same)
	}
	matched := map[string]bool{}
	for _, m := range theirs {
		found := false
		for _, w := range m.within {
			matched[w] = true
			found = found || have[w]
		}
		switch {
		case found:
			c.equal++
		default:
			c.explain(fmt.Sprintf("%s: %s, gopls says, in %s %v", path, what, m.at, m.within), c.missingReason(t, s, what, path, m))
		}
	}
	if ours == nil {
		return
	}
	for _, w := range slices.Sorted(maps.Keys(ours)) {
		if !matched[w] {
			c.explain(fmt.Sprintf("%s: %s, the graph says, %s (%s:%d)", path, what, w, strings.TrimPrefix(c.files[w], c.dir+"/"), c.symbols[w].Line), c.extraReason(t, s, what, path, w, same))
		}
	}
}

// explain counts a difference by its reason, or keeps it as a fault.
func (c *comparison) explain(difference, reason string) {
	if reason != "" {
		c.explained[reason]++
		return
	}
	c.faults = append(c.faults, cmp.Or(difference, "?"))
}

// nameless is part of the note about references that the graph does not have.
const nameless = "references to methods of error, of interfaces without a name"

// missingReason says why the graph has not what gopls has, or returns "".
func (c *comparison) missingReason(t *testing.T, s *languageServer, what, path string, m mention) string {
	t.Helper()
	if what == satisfying {
		for _, name := range append([]string{path}, m.within...) {
			generic, constraint := c.parameters(cmp.Or(c.owner[name], name))
			switch {
			case generic && strings.Contains(c.notes, "generic types implement"):
				return "generic types, which the note counts"
			case constraint && strings.Contains(c.notes, "interfaces with comparable"):
				return "constraints of type parameters, which the note counts"
			}
		}
	}
	if m.receiver && slices.ContainsFunc(m.within, func(w string) bool { return c.owner[w] == path }) {
		return "receivers, which are edges MethodOf"
	}
	if strings.HasSuffix(strings.Split(m.at, ":")[0], "_test.go") && len(m.within) == 0 && strings.Contains(c.notes, "files with tests") {
		return "tests that the build leaves out, which the note counts"
	}
	if c.symbols[path].Kind == codegraph.Method {
		for _, d := range s.definitions(t, m.place) {
			names := c.at[d.file()][d.Range.Start.Line+1]
			switch {
			case len(names) == 0 && strings.Contains(c.notes, nameless):
				return "methods without a named type, which the note counts"
			case slices.ContainsFunc(names, func(n string) bool {
				return n != path && slices.ContainsFunc(m.within, func(w string) bool { return c.users[n][w] })
			}):
				return "calls of another method that shares an interface, which the graph has as such"
			}
		}
	}
	return ""
}

// parameters reports whether a type has type parameters, and whether it is an interface with comparable or a list of types.
func (c *comparison) parameters(typ string) (generic, constraint bool) {
	f := c.parse(c.files[typ])
	if f == nil {
		return false, false
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != c.symbols[typ].Name {
			return true
		}
		generic = spec.TypeParams != nil
		if it, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, field := range it.Methods.List {
				switch e := field.Type.(type) {
				case *ast.Ident:
					constraint = constraint || e.Name == "comparable"
				case *ast.BinaryExpr, *ast.UnaryExpr:
					constraint = true
				}
			}
		}
		return false
	})
	return generic, constraint
}

// satisfying is the comparison of a type or a method with what it implements and what implements it.
const satisfying = "implements or is implemented by"

// extraReason says why gopls has not what the graph has, or returns "". Asked about an interface, gopls does not name the interfaces
// that it satisfies; asked about one of these, it names it.
func (c *comparison) extraReason(t *testing.T, s *languageServer, what, path, other string, same map[string]bool) string {
	t.Helper()
	if same != nil && !c.users[path][other] {
		return "calls of another method that shares an interface, which the graph has as such"
	}
	if what != satisfying {
		return ""
	}
	if p, ok := c.place(c.files[other], c.symbols[other]); ok {
		for _, m := range c.declared(s.implementations(t, c.files[other], p)) {
			if slices.Contains(m.within, path) {
				return "interfaces that an interface satisfies, which gopls says if it is asked about them"
			}
		}
	}
	return ""
}
