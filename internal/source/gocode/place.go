package gocode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// maxModFile is the size up to which go.mod and go.work are read, in bytes.
const maxModFile = 16 << 20

// place says how the packages of a folder are read.
type place struct {
	dir      string   // the folder, absolute and without symbolic links
	root     string   // the folder of the module or workspace that it belongs to, or dir; nothing outside is read
	patterns []string // packages to read
	outside  []string // folders that the go.work in dir names, which are not below dir

	work    string // GOWORK for the go command: the path of a go.work, "off", or "" without one
	several bool   // the folder belongs to no module and no workspace
}

// placeOf decides how the packages of a folder are read. Without patterns, Read reads all packages of the module or, in
// a folder with a go.work, of its modules below the folder.
func placeOf(opts Options) (*place, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	p := &place{dir: dir, root: dir, patterns: opts.Patterns}
	module, err := findAbove(dir, "go.mod")
	if err != nil {
		return nil, err
	}
	work, err := workspaceOf(dir, opts.Env)
	if err != nil {
		return nil, err
	}
	all := len(p.patterns) == 0 || len(p.patterns) == 1 && (p.patterns[0] == "./..." || p.patterns[0] == "...")
	if len(p.patterns) == 0 {
		p.patterns = []string{"./..."}
	}
	if work == "" {
		p.several = module == ""
		if module != "" {
			p.root = module
		}
		return p, nil
	}
	used, err := usedBy(work)
	if err != nil {
		return nil, err
	}
	if module != "" && !slices.Contains(used, module) && module != filepath.Dir(work) {
		p.work, p.root = "off", module // the workspace does not have the module
		return p, nil
	}
	p.work = work
	if within(filepath.Dir(work), dir) {
		p.root = filepath.Dir(work)
	}
	if !all || module != "" && dir != filepath.Dir(work) {
		return p, nil
	}
	p.patterns = nil
	for _, module := range used {
		rel, err := filepath.Rel(dir, module)
		if err != nil || !filepath.IsLocal(rel) {
			p.outside = append(p.outside, module)
			continue
		}
		p.patterns = append(p.patterns, "./"+filepath.ToSlash(filepath.Join(rel, "...")))
	}
	if len(p.patterns) == 0 {
		return nil, fmt.Errorf("%s names no module below %s; name the folder of one that it names", work, dir)
	}
	return p, nil
}

// findAbove returns the nearest of a folder and its parents that has a file with a name, or "".
func findAbove(dir, name string) (string, error) {
	for {
		info, err := os.Lstat(filepath.Join(dir, name))
		switch {
		case err == nil && info.Mode().IsRegular() && info.Size() > maxModFile:
			return "", fmt.Errorf("%s has more than %d bytes, so it is not read", filepath.Join(dir, name), maxModFile)
		case err == nil && info.Mode().IsRegular():
			return dir, nil
		case err == nil && !info.IsDir():
			return "", fmt.Errorf("%s is not a regular file; replace it with the file itself", filepath.Join(dir, name))
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// workspaceOf returns the path of the go.work that applies to a folder, or "". The variable GOWORK of the
// environment comes first, as for the go command. The folder of the go.work is without symbolic links, like `dir`, so that
// the folders of the modules compare equal.
func workspaceOf(dir string, env []string) (string, error) {
	if env == nil {
		env = os.Environ()
	}
	for _, set := range slices.Backward(env) {
		switch value, ok := strings.CutPrefix(set, "GOWORK="); {
		case !ok:
			continue
		case value == "off":
			return "", nil
		case value != "":
			folder, err := filepath.EvalSymlinks(filepath.Dir(value))
			if err != nil {
				return "", fmt.Errorf("find the workspace file of GOWORK: %w", err)
			}
			return filepath.Join(folder, filepath.Base(value)), nil
		}
		break
	}
	found, err := findAbove(dir, "go.work")
	if found == "" || err != nil {
		return "", err
	}
	return filepath.Join(found, "go.work"), nil
}

// usedBy returns the absolute paths of the folders that a go.work names.
func usedBy(work string) ([]string, error) {
	text, err := readRegular(work, maxModFile)
	if err != nil {
		return nil, fmt.Errorf("read the workspace file: %w", err)
	}
	file, err := modfile.ParseWork(work, text, nil)
	if err != nil {
		return nil, fmt.Errorf("read the workspace file: %w", err)
	}
	var out []string
	for _, use := range file.Use {
		name := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(work), name)
		}
		out = append(out, filepath.Clean(name))
	}
	return out, nil
}

// isVendored reports whether the folder of a module or a workspace holds copies of the modules that it
// requires.
func isVendored(root string) bool {
	info, err := os.Stat(filepath.Join(root, "vendor", "modules.txt"))
	return err == nil && info.Mode().IsRegular()
}
