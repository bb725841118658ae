// Package scip reads an index in the format SCIP, which indexers of many languages write, as a graph of
// package codegraph.
//
// SCIP has no edges between symbols: it lists where symbols occur. A reference counts as made by the
// innermost declaration whose range in the source contains it. It is a call if it names a function or a
// method. The graph says what the index does not cover: see codegraph.Module.
//
// An index is read twice, document by document: first the declarations, then the references. So the memory
// that it takes depends on the declarations and on the largest document, not on the number of references.
package scip

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	bindings "github.com/scip-code/scip/bindings/go/scip"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// Options say how to read an index.
type Options struct {
	// Module is the module of symbols for which the index names none. The default is the name of the
	// folder that was indexed.
	Module string

	Commit string // the commit that was indexed; empty if it is not known
	Prefix string // comes before the path of each file and a slash, if it is not empty

	// Lines, if set, returns the number of lines of the file at a path in the project, or false. If it is
	// nil or returns false, the number is that of the last line that the index mentions.
	Lines func(path string) (int, bool)

	// Progress, if set, is called when stages begin and advance. Its numbers are bytes.
	Progress func(stage string, done, total int)
}

// Read reads the index in a file of a size. The name is that of the file, for errors. An error names the
// document and the byte.
func Read(ctx context.Context, fileName string, file io.ReaderAt, size int64, opts Options) (*codegraph.Graph, error) {
	if opts.Progress == nil {
		opts.Progress = func(string, int, int) {}
	}
	r := &reader{
		ctx: ctx, opts: opts, fileName: fileName, file: file, size: size, module: opts.Module,
		symbols: map[string]int{}, packages: map[string]int{}, modules: map[string]string{}, files: map[string]int{},
		calls: map[[2]int]int{}, refers: map[[2]int]int{}, imports: map[[2]int]bool{}, others: map[string]int{},
	}
	if err := r.eachDocument("reading declarations", r.readDeclarations); err != nil {
		return nil, err
	}
	if r.tool == "" {
		return nil, fmt.Errorf("%s: the index has no metadata, so it is no SCIP index or is not complete; write it again", fileName)
	}
	if len(r.fileNodes) == 0 {
		return nil, fmt.Errorf("%s: the index has no documents below the root of the project; run the indexer in the folder of the source code", fileName)
	}
	r.settle()
	if err := r.eachDocument("reading references", r.readReferences); err != nil {
		return nil, err
	}
	return r.graph(), nil
}

// reader collects a graph from the documents of an index.
type reader struct {
	ctx      context.Context
	opts     Options
	fileName string
	file     io.ReaderAt
	size     int64

	tool   string // the indexer with its version
	module string // of symbols for which the index names none
	root   string // path of the project, or empty

	symbols  map[string]int // name in the index -> place in list
	list     []*symbol
	packages map[string]int // path -> place in packageNodes
	modules  map[string]string
	files    map[string]int // path in the index -> place in fileNodes

	packageNodes []pkg
	fileNodes    []source

	calls   map[[2]int]int  // from and to in list -> number of references
	refers  map[[2]int]int  // the same for references to other symbols than functions
	imports map[[2]int]bool // from and to in packageNodes
	others  map[string]int  // name in the index of a symbol of other code -> place in packageNodes

	gaps gaps
}

// pkg is a package.
type pkg struct {
	node   codegraph.Package
	module string
}

// source is a file.
type source struct {
	node codegraph.File
	pkg  int // place in packageNodes of the package of its first declaration, or -1
}

// symbol is a declaration.
type symbol struct {
	name name
	node codegraph.Symbol

	stated    bindings.SymbolInformation_Kind
	language  string
	satisfies []string // names in the index of the symbols that it implements
	file      int      // place in fileNodes, or -1 if no document declares it
	pkg       int      // place in packageNodes
	ranged    bool     // the index has the range of its body
}

// eachDocument reads the metadata, and calls use for each document.
func (r *reader) eachDocument(stage string, use func(*document) error) error {
	f := newFields(r.fileName, r.file, r.size)
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.opts.Progress(stage, int(f.offset), int(r.size))
		number, content, start, err := f.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if number == indexMetadata {
			if err := r.readMetadata(content); err != nil {
				return f.errorf(start, "the metadata cannot be read: %w", err)
			}
			continue
		}
		d := &document{file: r.fileName, start: start, bytes: content}
		if err := r.readHead(d); err != nil {
			return err
		}
		if d.path == "" {
			continue
		}
		if err := use(d); err != nil {
			return err
		}
	}
}

// readMetadata takes the name of the indexer and of the project.
func (r *reader) readMetadata(content []byte) error {
	var m bindings.Metadata
	if err := decode(content, &m); err != nil {
		return err
	}
	tool := m.GetToolInfo()
	r.tool = strings.TrimSpace(cmp.Or(tool.GetName(), "an unknown indexer") + " " + tool.GetVersion())
	root := m.ProjectRoot
	if u, err := url.Parse(root); err == nil && u.Scheme == "file" {
		r.root = u.Path
	}
	if u, err := url.Parse(root); err == nil {
		root = u.Path
	}
	if base := path.Base(strings.ReplaceAll(root, `\`, "/")); base != "." && base != "/" {
		r.module = cmp.Or(r.opts.Module, base)
	}
	r.module = cmp.Or(r.module, "unnamed")
	return nil
}

// readHead reads the fields of a document that are neither symbols nor occurrences. It sets an empty path if
// the document is not one of a file below the project's root.
func (r *reader) readHead(d *document) error {
	err := d.parts(func(number protowire.Number, offset int, content []byte) error {
		switch number {
		case documentPath:
			d.path = string(content)
		case documentLanguage:
			d.language = string(content)
		case documentText:
			d.text = content
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.tool == "" {
		return d.errorf(0, "the document comes before the metadata of the index; write the index again")
	}
	if !utf8.ValidString(d.path) || !utf8.ValidString(d.language) {
		return d.errorf(0, "the path and the language of the document must be UTF-8")
	}
	if d.path == "" {
		return d.errorf(0, "the document has no path; write the index again")
	}
	inIndex := d.path
	if path.IsAbs(d.path) {
		d.path = strings.TrimPrefix(d.path, strings.TrimSuffix(r.root, "/")+"/")
	}
	// Indexers list files that a build wrote elsewhere, such as those of cgo. A file with a drive is one too.
	d.path = path.Clean(d.path)
	if at := strings.ReplaceAll(d.path, `\`, "/"); path.IsAbs(at) || at == "." || at == ".." || strings.HasPrefix(at, "../") || len(at) > 1 && at[1] == ':' {
		d.path = ""
		r.gaps.outsideRoot(inIndex)
	}
	return nil
}
