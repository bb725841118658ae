// Package scaffold creates a module for a user: a schema, stored queries, a policy, a server with
// all of them built in, and the files to test and ship the module.
package scaffold

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// Omnigraph is the path of the module that a new module requires.
const Omnigraph = "github.com/omnigraph-go/omnigraph"

const (
	defaultGraph = "team"      // id of the graph of a new module
	goVersion    = "1.26.0"    // the oldest Go version that can build Omnigraph
	schemaFile   = "schema.pg" // name of the schema file
	queryDir     = "queries"   // name of the folder of .gq files
)

// templates holds the files of a new module, in the same folders as in the module. A file that ends
// in .tmpl is a template; a [Module] fills it in and drops the ending.
//
//go:embed all:templates
var templates embed.FS

// Module describes a module to create.
type Module struct {
	Path    string // module path
	Version string // version of Omnigraph to require
	Replace string // absolute folder of a checkout of Omnigraph, or "" to download the version
	Bind    string // host:port on which the server listens in the printed commands
	Graph   string // id of the graph; "" for team

	// Workspace says that the module is in the folder of a Go workspace. The module must be added
	// to that workspace.
	Workspace bool
}

// Check returns an error if a field has a value that cannot work.
func (m *Module) Check() error {
	// The go command reserves these names.
	if first, _, _ := strings.Cut(m.Path, "/"); slices.Contains([]string{"all", "cmd", "mod", "std", "tool", "work"}, first) {
		return fmt.Errorf("the module path is %q, which the go command reserves; name another, such as --module example.com/%s", m.Path, m.Path)
	}
	if slices.Contains([]string{"go", "toolchain"}, m.Path) {
		return fmt.Errorf("the module path is %q, which the go command does not accept for a module; name another, such as --module example.com/%s", m.Path, m.Path)
	}
	if slices.Contains(strings.Split(m.Path, "/"), "vendor") {
		return fmt.Errorf("the module path is %q, but the go command cannot import packages from a folder named vendor; name another with --module", m.Path)
	}
	if m.Path == Omnigraph {
		return fmt.Errorf("the module path is %s, which is the path of Omnigraph itself; name another with --module", m.Path)
	}
	if err := module.CheckImportPath(m.Path); err != nil {
		return fmt.Errorf("the module path %q is not valid: %w; name another with --module, such as example.com/brain", m.Path, err)
	}
	return checkBind(m.Bind)
}

// checkBind checks a listen address. The commands and the Makefile of the module repeat the
// address, and make has no quoting.
func checkBind(bind string) error {
	host, port, err := net.SplitHostPort(bind)
	if err != nil {
		return fmt.Errorf("the address of the server is %q; use host:port, such as 127.0.0.1:8080", bind)
	}
	if ip, err := netip.ParseAddr(host); host != "" && !hostName.MatchString(host) && (err != nil || ip.Zone() != "") {
		return fmt.Errorf("the address of the server is %q, but its host %q is not a name or an IP address; use an address such as 127.0.0.1:8080", bind, host)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("the address of the server is %q, but its port %q is not a number from 1 to 65535; use an address such as 127.0.0.1:8080", bind, port)
	}
	return nil
}

// hostName matches the host names that an address may have.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// Files returns the module's files by slash-separated name. They include the files that gq generate
// writes, because the module imports them.
func (m *Module) Files() (codegen.Files, error) {
	files := codegen.Files{}
	err := fs.WalkDir(templates, "templates", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := templates.ReadFile(name)
		if err != nil {
			return err
		}
		to, isTemplate := strings.CutSuffix(strings.TrimPrefix(name, "templates/"), ".tmpl")
		if isTemplate {
			if text, err = m.fill(name, text); err != nil {
				return err
			}
		}
		files[to] = text
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := m.generate(files); err != nil {
		return nil, err
	}
	return files, nil
}

// fill executes a template.
func (m *Module) fill(name string, text []byte) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"quote": modfile.AutoQuote}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	goMinor := goVersion[:strings.LastIndex(goVersion, ".")]
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Module": m.Path, "Name": m.name(), "Image": m.Image(), "Version": m.Version, "Replace": m.Replace, "Bind": m.Bind,
		"Go": goVersion, "GoMinor": goMinor, "Fill": m.fillStore(), "Graph": m.graph(), "Package": model.PackageName(m.graph()), "Steps": m.Steps(), "BuildSteps": m.BuildSteps(), "CompileNote": CompileNote, "Call": m.Call(),
	})
	return b.Bytes(), err
}

// name returns the last element of the module path that is not a version.
func (m *Module) name() string {
	prefix, _, ok := module.SplitPathVersion(m.Path)
	if !ok {
		prefix = m.Path
	}
	return path.Base(prefix)
}

// Image returns the name of the module's container image and of its release artifacts. It is the
// last element of the module path in the form that docker requires: lower-case letters, digits, and
// single separators between them.
func (m *Module) Image() string {
	words := strings.FieldsFunc(strings.ToLower(m.name()), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return cmp.Or(strings.Join(words, "-"), defaultGraph)
}

// graph returns the id of the graph.
func (m *Module) graph() string { return cmp.Or(m.Graph, defaultGraph) }

// generate adds the files that gq generate writes for the schema and the queries.
func (m *Module) generate(files codegen.Files) error {
	graph := m.graph()
	in := codegen.Graph{Name: graph, Schema: gq.Source{Name: schemaFile, Text: string(files[schemaFile])}}
	for _, name := range files.Names() {
		if path.Dir(name) == queryDir && path.Ext(name) == ".gq" {
			in.Queries = append(in.Queries, gq.Source{Name: name, Text: string(files[name])})
		}
	}
	out, faults, err := codegen.Generate(in)
	if err = errors.Join(faults.Err(), err); err != nil {
		return fmt.Errorf("generate the package of graph %s: %w", graph, err)
	}
	for name, text := range out.Package {
		files[path.Join("generated", model.PackageName(graph), name)] = text
	}
	files[path.Join(codegen.ReferenceDir, graph+".md")] = out.Reference
	return nil
}

// BlockingEntries lists the entries of dir that prevent a module from being created there: all
// entries except the folder of git. A folder that does not exist has no entries.
func BlockingEntries(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".git" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Write creates dir and writes the files into it. It replaces no file. If it fails, it removes the
// files and folders that it created.
func Write(dir string, files codegen.Files) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range slices.Backward(made) {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	for _, name := range files.Names() {
		to := filepath.Join(dir, filepath.FromSlash(name))
		folders, err := makeFolders(filepath.Dir(to))
		made = append(made, folders...)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		made = append(made, to)
		_, err = f.Write(files[name])
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// makeFolders creates dir and its missing parents. It returns the folders that it created, parents
// first.
func makeFolders(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if up := filepath.Dir(dir); up != dir {
		if made, err = makeFolders(up); err != nil {
			return made, err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return made, err
	}
	return append(made, dir), nil
}

// Sources returns the schema of a new module, and its stored queries by file name.
func Sources() (schema string, queries map[string]string, err error) {
	text, err := templates.ReadFile("templates/" + schemaFile)
	if err != nil {
		return "", nil, err
	}
	names, err := fs.Glob(templates, "templates/"+queryDir+"/*.gq")
	queries = map[string]string{}
	for _, name := range names {
		query, err := templates.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		queries[path.Base(name)] = string(query)
	}
	return string(text), queries, err
}
