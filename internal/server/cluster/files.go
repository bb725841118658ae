package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// join resolves a path of the file relative to the file's folder.
func (p *reader) join(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
}

// file checks that a path leads to a regular file with one of the endings, and returns the joined
// path. Reports call the file by the text in the argument `what`.
func (p *reader) file(n *strictyaml.Node, path, what string, endings ...string) string {
	full := p.join(path)
	info, err := os.Stat(full)
	switch {
	case err != nil && os.IsNotExist(err):
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("%s: the file %q does not exist", what, path), "write the path relative to the folder of this file")
	case err != nil:
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("%s: the file %q cannot be read", what, path), "check its permissions")
	case !info.Mode().IsRegular():
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("%s: %q is not a file", what, path), "")
	case !slices.Contains(endings, filepath.Ext(full)):
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("%s: %q does not end in %s", what, path, strings.Join(endings, " or ")), "")
	}
	return full
}

// source reads the folder with the source code that a graph was read from.
func (p *reader) source(g *Graph, n *strictyaml.Node) {
	if n == nil {
		return
	}
	s, ok := n.Text("source")
	if !ok {
		return
	}
	full, err := filepath.Abs(p.join(s))
	if err != nil {
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("source: the path %q has no absolute form", s), "write an absolute path")
		return
	}
	if info, err := os.Stat(full); err == nil && !info.IsDir() {
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("source: %q is not a folder", s), "name the folder with the code")
	}
	g.Source = full
}

// folder returns the .gq files directly in a folder, sorted.
func folder(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".gq" {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}
