// Package freshness tells whether source code has changed since an index of it was made. It asks for the sizes
// and times of files, and reads none of them but the references of the Git repository. It runs no program.
package freshness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Tick bounds how far the times of files may lag behind the clock. A file that changes twice within it may keep its times.
const Tick = 20 * time.Millisecond

// Stamp returns the size of a file, and the times of the last change of its content and of the file itself, as text.
func Stamp(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d %d", info.Size(), info.ModTime().UnixNano(), changeTime(info))
}

// Changed returns the time when a file, or the list of files of a folder, last changed.
func Changed(info fs.FileInfo) time.Time {
	return time.Unix(0, max(info.ModTime().UnixNano(), changeTime(info)))
}

// Index is what an index remembers about a module.
type Index struct {
	Folder string            // absolute path
	Commit string            // the commit that was checked out; empty if it is not known
	Read   time.Time         // when the index was begun
	Files  map[string]string // the stamps of files, by their paths below Folder
}

// State says how the folder of a module differs from an index of it.
type State struct {
	Head    string   // the commit that is checked out; empty if it is not known
	Changed []string // files below the folder that were changed, added or removed since the index was begun, sorted
	Missing bool     // the folder is not there, so that neither is known
	Unknown string   // why one of them is not known
}

// Check compares the folder with the index. The error is that of the context.
func (x *Index) Check(ctx context.Context) (State, error) {
	var s State
	added := make(chan []string, 1)
	go func() { added <- x.added(ctx) }()
	if info, err := os.Stat(x.Folder); err != nil || !info.IsDir() {
		s.Missing, s.Unknown = true, "the folder that was indexed is not there"
	}
	for name, stamp := range x.Files {
		if ctx.Err() != nil {
			break
		}
		info, err := os.Stat(filepath.Join(x.Folder, filepath.FromSlash(name)))
		if err != nil || Stamp(info) != stamp {
			s.Changed = append(s.Changed, name)
		}
	}
	s.Changed = append(s.Changed, <-added...)
	slices.Sort(s.Changed)
	if s.Missing {
		s.Changed = nil
		return s, ctx.Err()
	}
	var err error
	if s.Head, err = Head(x.Folder); err != nil && x.Commit != "" {
		s.Unknown = err.Error()
	}
	return s, ctx.Err()
}

// added lists the files of the module that the index has not, and that changed since it was begun. An index leaves out
// files of the module, such as those for other platforms.
func (x *Index) added(ctx context.Context) []string {
	var out []string
	since := x.Read.Add(-Tick)
	known := map[string]bool{} // the folders that have files of the index
	for name := range x.Files {
		for dir := path.Dir(name); dir != "." && !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
		}
	}
	recent := map[string]bool{} // the folders that came since then
	_ = filepath.WalkDir(x.Folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err() // a folder that was removed meanwhile, or that this process may not read
		}
		rel, err := filepath.Rel(x.Folder, name)
		if err != nil || rel == "." {
			return nil
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if IsSkipped(d.Name()) || exists(filepath.Join(name, "go.mod")) {
				return filepath.SkipDir
			}
			if !known[rel] {
				info, err := d.Info()
				recent[name] = err == nil && Changed(info).After(since) || recent[filepath.Dir(name)]
			}
			return nil
		}
		if !isSource(d.Name()) {
			return nil
		}
		if _, known := x.Files[rel]; known {
			return nil
		}
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() && (Changed(info).After(since) || recent[filepath.Dir(name)]) {
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// IsSkipped reports whether the go command skips folders with a name, or whether they belong to a package manager of
// JavaScript.
func IsSkipped(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules"
}

// isSource reports whether a file with a name counts for an index of Go.
func isSource(name string) bool {
	return filepath.Ext(name) == ".go" || slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, name)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// WorkBranch returns the branch to which omnigraph index go --watch writes the code in a folder by default.
func WorkBranch(folder string) string {
	keep := func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}
	return "work/" + strings.Trim(strings.Map(keep, filepath.Base(folder)), ".-")
}

// Place returns the module that a file belongs to, and the path of the file below the folder of the module. With several modules
// the path in the graph begins with that of the module.
func Place(modules []string, file string) (module int, name string) {
	module = -1
	for i, m := range modules {
		if rest, ok := strings.CutPrefix(file, m+"/"); ok && (module < 0 || len(m) > len(modules[module])) {
			module, name = i, rest
		}
	}
	if module < 0 && len(modules) == 1 {
		module, name = 0, file
	}
	if !path.IsAbs(name) && filepath.IsLocal(filepath.FromSlash(name)) {
		return module, name
	}
	return -1, ""
}
