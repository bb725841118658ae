package gocode

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/freshness"
)

// Session reads the same packages again and again. Between changes of imports, build tags, modules and sets of files, it
// type-checks only the packages that changed, and those that import them. It keeps the types of all packages in memory.
type Session struct {
	opts   Options
	loaded *loaded  // nil if the next read must be a full one
	failed []string // the files that had changed before reads that failed
}

// NewSession returns a session that has read nothing.
func NewSession(opts Options) *Session {
	if opts.Progress == nil {
		opts.Progress = func(string, int, int) {}
	}
	opts.Dir = cmp.Or(opts.Dir, ".")
	return &Session{opts: opts}
}

// Close forgets what was read.
func (s *Session) Close() {
	if s.loaded != nil {
		s.loaded.survey.folder.Close()
		s.loaded = nil
	}
}

// Read returns the graph. The argument `changed` lists the absolute paths of all files that were changed, added or removed
// since the last read. The result `full` says that all was read anew. See [Read] for the error.
func (s *Session) Read(ctx context.Context, changed []string) (g *codegraph.Graph, full bool, err error) {
	changed = append(slices.Clone(changed), s.failed...)
	s.failed = changed
	defer func() {
		if err == nil {
			s.failed = nil
		}
	}()
	if s.loaded != nil {
		began := time.Now()
		if !s.loaded.renew(changed) {
			s.Close()
		} else {
			s.loaded.survey.began = began
		}
	}
	if s.loaded == nil {
		full = true
		if g, err = s.readAll(ctx); err != nil || g != nil {
			return g, full, err
		}
	}
	if err := s.loaded.check(ctx, s.opts); err != nil {
		return nil, full, err
	}
	g, err = s.loaded.graph(ctx, s.opts, nil)
	return g, full, err
}

// Indexes returns what a graph remembers about the modules that were read.
func Indexes(g *codegraph.Graph) []freshness.Index {
	var all []freshness.Index
	var paths []string
	for _, m := range g.Modules {
		if m.Main && m.Folder != "" {
			all = append(all, freshness.Index{Folder: m.Folder, Commit: m.Commit, Read: m.ReadAt, Files: map[string]string{}})
			paths = append(paths, m.Path)
		}
	}
	for _, f := range g.Files {
		if i, name := freshness.Place(paths, f.Path); i >= 0 && f.Stamp != "" {
			all[i].Files[name] = f.Stamp
		}
	}
	return all
}

// readAll lists the packages of one module or workspace. If the folder belongs to none, it returns the graph of the modules
// below it.
func (s *Session) readAll(ctx context.Context) (*codegraph.Graph, error) {
	if info, err := os.Stat(s.opts.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder; name the folder that holds go.mod", s.opts.Dir)
	}
	p, err := placeOf(s.opts)
	if err != nil {
		return nil, err
	}
	v, err := surveyed(ctx, p.root)
	if err != nil {
		return nil, err
	}
	if p.several {
		defer v.folder.Close()
		return readSeveral(ctx, s.opts, p, v)
	}
	if s.loaded, err = load(ctx, s.opts, p, v); err != nil {
		v.folder.Close()
	}
	return nil, err
}

// renew makes the packages with changed files stale, and those that import them. It reports false if the go command must
// list the packages again.
func (l *loaded) renew(changed []string) bool {
	for _, name := range changed {
		if !l.keepsHeader(name) {
			return false
		}
	}
	for _, name := range changed {
		delete(l.checker.parsed, name)
	}
	for _, p := range l.all {
		stale := l.stale[p] || slices.ContainsFunc(p.GoFiles, func(name string) bool { return slices.Contains(changed, name) })
		for _, dep := range p.Imports {
			stale = stale || l.stale[dep]
		}
		if stale {
			l.stale[p] = true
			p.Syntax, p.Types, p.TypesInfo = nil, nil, nil
			delete(l.checker.errors, p)
		}
	}
	return true
}

// keepsHeader reports whether a file is one that was read, or that the build leaves out, and still has the same imports and build
// tags.
func (l *loaded) keepsHeader(name string) bool {
	before := l.checker.parsed[name]
	ignored, isIgnored := l.ignored[name]
	info, err := os.Lstat(name)
	if before == nil && !isIgnored || err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return false
	}
	text, err := readRegular(name, maxSource)
	if err != nil {
		return false
	}
	now := parseHeader(name, text)
	if before == nil {
		return now != nil && header(now) == ignored
	}
	return now != nil && !usesCgo(now) && header(now) == header(before)
}

// parseHeader parses the beginning of a file, with its imports, or returns nil.
func parseHeader(name string, text []byte) *ast.File {
	f, _ := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments|parser.SkipObjectResolution)
	return f
}

// ignoredBy returns the headers of the Go files of main modules that the build leaves out.
func ignoredBy(pkgs []*packages.Package) map[string]string {
	out := map[string]string{}
	for _, p := range pkgs {
		for _, name := range p.IgnoredFiles {
			if foreign(p) || filepath.Ext(name) != ".go" {
				continue
			}
			if text, err := readRegular(name, maxSource); err == nil {
				if f := parseHeader(name, text); f != nil {
					out[name] = header(f)
				}
			}
		}
	}
	return out
}

// header returns what the go command reads of a file.
func header(f *ast.File) string {
	var b strings.Builder
	b.WriteString(f.Name.Name)
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && (strings.HasPrefix(c.Text, "//go:build") || strings.HasPrefix(c.Text, "// +build") || strings.HasPrefix(c.Text, "//+build")) {
				b.WriteString("\n" + c.Text)
			}
		}
	}
	for _, i := range f.Imports {
		b.WriteString("\n" + i.Path.Value)
	}
	return b.String()
}
