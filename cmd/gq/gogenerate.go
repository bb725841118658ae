package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/codegen"
)

// underGoGenerate reports whether go generate runs this process. The current directory is then the
// folder of the directive.
func underGoGenerate() bool { return os.Getenv("GOFILE") != "" && os.Getenv("GOPACKAGE") != "" }

// userPath returns the path of a file as output shows it to the user: the path from the current
// directory. Under go generate the current directory is the folder of the directive, but the user
// is usually at the root of the module, so the path is then relative to the root.
func userPath(path string) string {
	if underGoGenerate() {
		return sourceName(moduleRoot(path), path)
	}
	return filepath.ToSlash(fromHere(path))
}

// fromHere returns the shortest form of a path from the current directory. The given path may leave
// this directory and return to it, such as ../queries/a.gq in the folder queries.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(here, path)
	}
	if rel, err := filepath.Rel(here, full); err == nil {
		return rel
	}
	return path
}

// removal says how to remove files from the folder of a generated package. go generate visits the
// packages of a module in the order of their paths. So it has finished all packages that come
// before the directive's own package.
func removal(dir string) codegen.Removal {
	if !underGoGenerate() {
		return codegen.Delete
	}
	root := moduleRoot(filepath.Join(dir, "x.go"))
	here, there := sourceName(root, "."), sourceName(root, dir)
	if slices.Compare(strings.Split(there, "/"), strings.Split(here, "/")) < 0 {
		return codegen.Delete
	}
	return codegen.Empty
}
