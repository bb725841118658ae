package gocode

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/omnigraph-go/omnigraph/internal/source/freshness"
)

// mode lists what the go command must say about packages. The packages are parsed and type-checked here, because
// for types, and even for NeedTypesSizes, the go command runs cgo and pkg-config, or compiles packages.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule | packages.NeedForTest

// list lists the packages that match patterns, with their tests and all their dependencies, and returns the sizes of types.
func list(ctx context.Context, p *place, s *survey, opts Options) (pkgs []*packages.Package, sizes types.Sizes, err error) {
	flag := "-mod=readonly"
	if isVendored(p.root) {
		flag = "-mod=vendor" // what the module is built from
	}
	env, arch, err := environment(ctx, opts.Env, flag)
	if err != nil {
		return nil, nil, err
	}
	if p.work != "" {
		env = append(env, "GOWORK="+p.work)
	}
	cfg := &packages.Config{Context: ctx, Mode: mode, Dir: p.dir, Env: env, Tests: true}
	overlay, remove, err := s.overlay()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	if overlay != "" {
		cfg.BuildFlags = []string{overlay}
	}
	if pkgs, err = packages.Load(cfg, p.patterns...); err != nil {
		return nil, nil, fmt.Errorf("reading packages: %w", err)
	}
	return pkgs, types.SizesFor("gc", arch), nil
}

// checker parses and type-checks packages.
type checker struct {
	survey *survey
	sizes  types.Sizes
	fset   *token.FileSet
	wanted map[*packages.Package]bool // those with symbols to read
	errors map[*packages.Package]int  // numbers of type errors that do not prevent the reading
	faults []packages.Error
	parsed map[string]*ast.File // the files of main modules by name
	read   map[string]content   // what was read of these files
}

// check parses and type-checks packages that are sorted so that each comes after those that it imports. It sets the
// syntax and the types of the wanted packages. Of the others it sets only the types of declarations, and it ignores faults in
// them: a fault that matters also shows where a wanted package uses the declaration.
func (c *checker) check(ctx context.Context, pkgs []*packages.Package, progress func(done int)) error {
	for i, p := range pkgs {
		if err := ctx.Err(); err != nil {
			return err
		}
		progress(i + 1)
		if p.PkgPath == "unsafe" {
			p.Types = types.Unsafe
			continue
		}
		if err := c.checkPackage(p); err != nil {
			return err
		}
	}
	return nil
}

// checkPackage parses and type-checks one package.
func (c *checker) checkPackage(p *packages.Package) error {
	wanted := c.wanted[p]
	incomplete, err := c.parse(p)
	if err != nil {
		return err
	}
	config := types.Config{
		Importer: importer{p}, Sizes: c.sizes,
		FakeImportC: true, // without it, the checker wants files that cgo writes
		Error: func(err error) {
			switch {
			case !wanted:
			case p.ForTest != "":
				if c.inTest(err) {
					c.errors[p]++
				}
			case incomplete:
				c.errors[p]++
			default:
				c.faults = append(c.faults, c.fault(err))
			}
		},
		IgnoreFuncBodies: !wanted,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	if wanted {
		p.TypesInfo = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		}
	}
	p.Types, _ = config.Check(p.PkgPath, c.fset, p.Syntax, p.TypesInfo) // the errors went to config.Error
	p.Fset = c.fset
	if !wanted {
		p.Syntax = nil
	}
	return nil
}

// inTest reports whether an error of the type checker is about a file with tests.
func (c *checker) inTest(err error) bool {
	var e types.Error
	return !errors.As(err, &e) || isTest(c.fset.PositionFor(e.Pos, false).Filename)
}

// parse parses the files of a package, and leaves out those that must not be read. It reports whether
// type errors are to be expected, because files are left out or the package uses cgo.
func (c *checker) parse(p *packages.Package) (incomplete bool, err error) {
	flags := parser.SkipObjectResolution
	if c.wanted[p] {
		flags |= parser.ParseComments
	}
	files := p.GoFiles[:0:0]
	for _, name := range p.GoFiles {
		if f := c.parsed[name]; f != nil {
			incomplete = incomplete || usesCgo(f)
			if p.ForTest != "" && !isTest(name) { // a package is checked once more with its tests
				f = withoutBodies(f)
			}
			files, p.Syntax = append(files, name), append(p.Syntax, f)
			continue
		}
		text, err := c.source(p, name)
		if err != nil && !foreign(p) {
			c.survey.hidden[name] = true
		}
		if err != nil {
			incomplete = true
			continue
		}
		f, err := parser.ParseFile(c.fset, name, text, flags)
		switch {
		case err == nil || !c.wanted[p]:
		case p.ForTest != "":
			c.errors[p]++
		default:
			c.faults = append(c.faults, parseFaults(name, err)...)
		}
		if f == nil {
			continue
		}
		if !foreign(p) && err == nil {
			c.parsed[name] = f
		}
		files, p.Syntax = append(files, name), append(p.Syntax, f)
		incomplete = incomplete || usesCgo(f)
	}
	p.GoFiles = files
	for name := range c.survey.hidden {
		incomplete = incomplete || !foreign(p) && filepath.Dir(name) == p.Dir
	}
	return incomplete, nil
}

// withoutBodies returns a file without the bodies of its functions, which need not be checked again.
func withoutBodies(f *ast.File) *ast.File {
	out := *f
	out.Decls = slices.Clone(f.Decls)
	for i, d := range out.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			bare := *fn
			bare.Body = nil
			out.Decls[i] = &bare
		}
	}
	return &out
}

// source returns the text of a file of a package. The files of main modules must be in the folder that is read,
// unless the user named a module that is outside of it.
func (c *checker) source(p *packages.Package, name string) ([]byte, error) {
	if foreign(p) {
		return readRegular(name, maxSource)
	}
	stamp, err := stampOf(name) // before the file is read: a later change then shows
	if err != nil {
		return nil, err
	}
	var text []byte
	if within(c.survey.folder.Dir(), p.Module.Dir) {
		text, err = c.survey.folder.ReadFile(name, maxSource)
	} else {
		text, err = readRegular(name, maxSource)
	}
	if err == nil {
		c.read[name] = content{lines: countLines(text), digest: fmt.Sprintf("%x", sha256.Sum256(text)), stamp: stamp}
	}
	return text, err
}

// content describes the content of a file.
type content struct {
	lines         int
	digest, stamp string
}

// stampOf returns the stamp of a file. It waits until a further change of the file would change the stamp.
func stampOf(name string) (string, error) {
	for {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		age := time.Since(freshness.Changed(info))
		if age < 0 || age >= freshness.Tick {
			return freshness.Stamp(info), nil
		}
		time.Sleep(freshness.Tick - age)
	}
}

// readRegular returns the content of a file if it is a regular file with at most a number of bytes.
func readRegular(name string, most int64) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", name, most)
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// usesCgo reports whether a file imports the package C.
func usesCgo(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// importer finds the packages that a package imports.
type importer struct{ by *packages.Package }

// Import implements [types.Importer].
func (i importer) Import(path string) (*types.Package, error) {
	p := i.by.Imports[path]
	switch {
	case p == nil:
		return nil, fmt.Errorf("the go command does not list the package %s", path)
	case len(p.Errors) > 0 && len(p.GoFiles) == 0:
		return nil, errors.New(p.Errors[0].Msg)
	case p.Types == nil:
		return nil, fmt.Errorf("the package %s imports this package", path)
	}
	return p.Types, nil
}

// fault returns an error of the type checker with the place in the file itself, whatever //line comments
// say.
func (c *checker) fault(err error) packages.Error {
	var e types.Error
	if !errors.As(err, &e) {
		return packages.Error{Msg: err.Error(), Kind: packages.TypeError}
	}
	return packages.Error{Pos: c.fset.PositionFor(e.Pos, false).String(), Msg: e.Msg, Kind: packages.TypeError}
}

// parseFaults returns the errors of the parser about a file.
func parseFaults(name string, err error) []packages.Error {
	var all scanner.ErrorList
	if !errors.As(err, &all) {
		return []packages.Error{{Pos: name, Msg: err.Error(), Kind: packages.ParseError}}
	}
	var out []packages.Error
	for _, e := range all {
		pos := e.Pos.String()
		if e.Pos.Filename != name { // a //line comment says so
			pos = name + " (" + pos + ")"
		}
		out = append(out, packages.Error{Pos: pos, Msg: e.Msg, Kind: packages.ParseError})
	}
	return out
}
