package scip

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	bindings "github.com/scip-code/scip/bindings/go/scip"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// readDeclarations adds the file of a document, the symbols that it declares, and their packages.
func (r *reader) readDeclarations(d *document) error {
	file, known := r.files[d.path]
	if !known {
		file = len(r.fileNodes)
		r.files[d.path] = file
		node := codegraph.File{Path: d.path}
		if r.opts.Prefix != "" {
			node.Path = r.opts.Prefix + "/" + d.path
		}
		r.fileNodes = append(r.fileNodes, source{node: node, pkg: -1})
	}
	if err := d.symbols(func(offset int, info *bindings.SymbolInformation) error {
		r.describe(d, offset, info)
		return nil
	}); err != nil {
		return err
	}
	last := 0 // the last line that the document mentions, from 1
	err := d.occurrences(func(offset int, o *bindings.Occurrence, at bindings.Range) error {
		last = max(last, int(at.End.Line)+1)
		body, ranged := o.EnclosingSourceRange()
		if ranged {
			if err := body.Validate(); err != nil {
				return d.errorf(offset, "the enclosing range of an occurrence of %s is not valid: %w", shorten(o.Symbol), err)
			}
			last = max(last, int(body.End.Line))
			if body.End.Character > 0 {
				last = max(last, int(body.End.Line)+1)
			}
		}
		if o.SymbolRoles&int32(bindings.SymbolRole_Definition) == 0 {
			return nil
		}
		s, p := r.declare(d, offset, o.Symbol)
		if p >= 0 {
			r.packageNodes[p].node.Read = true
			if r.fileNodes[file].pkg < 0 {
				r.fileNodes[file].pkg = p
			}
		}
		if s != nil && s.file < 0 {
			s.file, s.node.Line, s.ranged = file, int(at.Start.Line)+1, ranged
		}
		return nil
	})
	r.countLines(file, d, last)
	return err
}

// countLines sets the number of lines of a file.
func (r *reader) countLines(file int, d *document, last int) {
	node := &r.fileNodes[file].node
	if d.text != nil {
		node.Lines = bytes.Count(d.text, []byte{'\n'})
		if len(d.text) > 0 && d.text[len(d.text)-1] != '\n' {
			node.Lines++
		}
		return
	}
	if r.opts.Lines != nil {
		if n, ok := r.opts.Lines(d.path); ok {
			node.Lines = n
			return
		}
	}
	if node.Lines == 0 {
		r.gaps.lines++
	}
	node.Lines = max(node.Lines, last)
}

// declare returns the symbol with a name in the index, which it adds if it is missing, and the place of its
// package. The symbol is nil if it is a package. The place is -1 if the name is not valid.
func (r *reader) declare(d *document, offset int, inIndex string) (*symbol, int) {
	if i, ok := r.symbols[inIndex]; ok {
		return r.list[i], r.list[i].pkg
	}
	n, err := parseName(inIndex, r.module)
	if err != nil {
		r.gaps.invalid(d.errorf(offset, "%s: %w", shorten(inIndex), err))
		return nil, -1
	}
	p := r.packageOf(n)
	if n.isPackage() {
		return nil, p
	}
	s := &symbol{name: n, language: d.language, file: -1, pkg: p}
	r.symbols[inIndex] = len(r.list)
	r.list = append(r.list, s)
	return s, p
}

// packageOf returns the place of the package that a name belongs to. It adds the package and the module if
// they are missing.
func (r *reader) packageOf(n name) int {
	if p, ok := r.packages[n.pkg]; ok {
		return p
	}
	p := len(r.packageNodes)
	r.packages[n.pkg] = p
	r.packageNodes = append(r.packageNodes, pkg{codegraph.Package{Path: n.pkg, Name: n.pkgName}, n.module})
	r.modules[n.module] = max(r.modules[n.module], n.version)
	return p
}

// describe takes what the index says about a symbol.
func (r *reader) describe(d *document, offset int, info *bindings.SymbolInformation) {
	if info.Symbol == "" || bindings.IsLocalSymbol(info.Symbol) {
		return
	}
	s, p := r.declare(d, offset, info.Symbol)
	if p < 0 {
		return
	}
	signature, doc := documentation(info)
	if s == nil {
		node := &r.packageNodes[p].node
		node.Doc = cmp.Or(node.Doc, doc)
		return
	}
	s.node.Signature, s.node.Doc = cmp.Or(s.node.Signature, signature), cmp.Or(s.node.Doc, doc)
	s.stated = cmp.Or(s.stated, info.Kind)
	for _, rel := range info.Relationships {
		if rel.IsImplementation {
			s.satisfies = append(s.satisfies, rel.Symbol)
		}
	}
}

// documentation returns the declaration of a symbol and its documentation. Older indexers write the
// declaration as a block of code before the documentation, or as a line such as (module) shop.stock.
func documentation(info *bindings.SymbolInformation) (signature, doc string) {
	texts := info.Documentation
	if len(texts) > 0 && info.GetSignatureDocumentation() == nil {
		if block, ok := strings.CutPrefix(texts[0], "```"); ok {
			_, block, _ = strings.Cut(block, "\n")
			block, rest, _ := strings.Cut(block, "```")
			signature = strings.TrimSpace(block)
			texts = append([]string{rest}, texts[1:]...)
		} else if strings.HasPrefix(texts[0], "(module) ") && !strings.Contains(texts[0], "\n") {
			texts = texts[1:]
		}
	} else if s := info.GetSignatureDocumentation(); s != nil {
		signature = strings.TrimSpace(s.Text)
	}
	return signature, strings.TrimSpace(strings.Join(texts, "\n\n"))
}

// settle decides which symbols are in the graph, and their kinds and paths.
func (r *reader) settle() {
	inIndex := make([]string, len(r.list))
	for name, i := range r.symbols {
		inIndex[i] = name
	}
	r.symbols = map[string]int{}
	kept := r.list[:0]
	var names []string
	for i, s := range r.list {
		s.node.Kind = s.name.kind(s.stated, s.node.Signature)
		switch {
		case s.file < 0:
		case s.node.Kind != "":
			s.node.Path, s.node.Name = s.name.path, s.name.last
			s.node.Exported = s.name.isExported(s.language, s.node.Signature)
			s.node.Words = codegraph.Words(s.name.pkgName, s.name.owner, s.name.last)
			r.symbols[inIndex[i]] = len(kept)
			kept, names = append(kept, s), append(names, inIndex[i])
		case s.name.suffix == bindings.Descriptor_Term:
			r.gaps.fields++
		}
	}
	clear(r.list[len(kept):])
	r.list = kept
	r.separate(names)
}

// separate gives symbols with the same path different ones. Two symbols of an index may have one path, such
// as a type and a function with the same name. Then one of them keeps the path, and the others get a word
// and perhaps a number after it. The names in the index decide which.
func (r *reader) separate(names []string) {
	sharing := map[string][]int{}
	for i, s := range r.list {
		sharing[s.name.path] = append(sharing[s.name.path], i)
	}
	for path, places := range sharing {
		slices.SortFunc(places, func(a, b int) int {
			return cmp.Or(cmp.Compare(r.list[a].name.suffix, r.list[b].name.suffix), cmp.Compare(names[a], names[b]))
		})
		numbers := map[codegraph.Kind]int{}
		for _, i := range places[1:] {
			s := r.list[i]
			for {
				numbers[s.node.Kind]++
				s.node.Path = path + "(" + string(s.node.Kind) + ")"
				if n := numbers[s.node.Kind]; n > 1 {
					s.node.Path = path + "(" + string(s.node.Kind) + " " + strconv.Itoa(n) + ")"
				}
				if _, taken := sharing[s.node.Path]; !taken {
					break
				}
			}
		}
	}
}
