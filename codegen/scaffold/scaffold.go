// Package scaffold makes a module of a user's own: a schema, stored queries, a policy, a
// server that has them built in, and what tests and ships it.
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
	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq"
)

// Omnigraph is the module that a scaffolded one requires.
const Omnigraph = "github.com/omnigraph-go/omnigraph"

const (
	graph      = "team"
	goVersion  = "1.26.0" // the least that Omnigraph builds with
	schemaFile = "schema.pg"
	queryDir   = "queries"
)

// The files stand here as they are in the module. Those that end in .tmpl are templates,
// which a [Module] fills in, and lose the ending.
//
//go:embed all:templates
var templates embed.FS

// Module is a module to make.
type Module struct {
	Path    string // the module path
	Version string // of Omnigraph, to be required
	Replace string // the absolute folder of a checkout of Omnigraph, or "" to fetch the version
	Bind    string // host:port, where the commands that are told have the server listen

	// Workspace says that the module lies in a workspace of Go, which must be told of it.
	Workspace bool
}

// Check finds faults of what the module was told.
func (m *Module) Check() error {
	// The go command keeps these for itself.
	if first, _, _ := strings.Cut(m.Path, "/"); slices.Contains([]string{"all", "cmd", "std", "tool", "work"}, first) {
		return fmt.Errorf("the module path is %q, which the go command reads as its own; name another, such as --module example.com/%s", m.Path, m.Path)
	}
	if slices.Contains(strings.Split(m.Path, "/"), "vendor") {
		return fmt.Errorf("the module path is %q, and the go command imports nothing from below a folder vendor; name another with --module", m.Path)
	}
	if m.Path == Omnigraph {
		return fmt.Errorf("the module path is %s, which is the module to build on; name another with --module", m.Path)
	}
	if err := module.CheckImportPath(m.Path); err != nil {
		return fmt.Errorf("the module path is %q, wanted one such as example.com/brain: %w; name it with --module", m.Path, err)
	}
	return checkBind(m.Bind)
}

// checkBind checks a listen address. The commands and the Makefile of the module repeat it,
// and make knows no quotes.
func checkBind(bind string) error {
	host, port, err := net.SplitHostPort(bind)
	if err != nil {
		return fmt.Errorf("the server's address is %q, wanted host:port, such as 127.0.0.1:8080", bind)
	}
	if ip, err := netip.ParseAddr(host); host != "" && !hostName.MatchString(host) && (err != nil || ip.Zone() != "") {
		return fmt.Errorf("the server's address is %q, whose host %q is neither a name nor an IP address; wanted one such as 127.0.0.1:8080", bind, host)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("the server's address is %q, whose port %q is not a number from 1 to 65535; wanted one such as 127.0.0.1:8080", bind, port)
	}
	return nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// Files returns the module's files by their slash-separated names, those that gq generate
// writes included: without them the module's own imports would lead nowhere.
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
	if err := generate(files); err != nil {
		return nil, err
	}
	return files, nil
}

// fill fills in a template.
func (m *Module) fill(name string, text []byte) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"quote": modfile.AutoQuote}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	goMinor := goVersion[:strings.LastIndex(goVersion, ".")]
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Module": m.Path, "Name": m.name(), "Image": m.image(), "Version": m.Version, "Replace": m.Replace, "Bind": m.Bind,
		"Go": goVersion, "GoMinor": goMinor, "Build": build, "Fill": fillStore, "Steps": m.Steps(), "Call": m.Call(),
	})
	return b.Bytes(), err
}

// name is the last element of the module path that is no version.
func (m *Module) name() string {
	prefix, _, ok := module.SplitPathVersion(m.Path)
	if !ok {
		prefix = m.Path
	}
	return path.Base(prefix)
}

// image is the name as docker takes it for an image: lower-case letters, digits, and single
// separators between them.
func (m *Module) image() string {
	words := strings.FieldsFunc(strings.ToLower(m.name()), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return cmp.Or(strings.Join(words, "-"), graph)
}

// generate adds what gq generate writes for the schema and the queries.
func generate(files codegen.Files) error {
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

// InTheWay lists what is in dir and keeps a module from being made there: anything but the
// folder of git. A folder that does not exist holds nothing.
func InTheWay(dir string) ([]string, error) {
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

// Write writes files into dir, which it makes. It replaces nothing, and when it fails it
// removes what it wrote.
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

// makeFolders makes dir and the parents that it lacks, and returns what it made, parents
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
