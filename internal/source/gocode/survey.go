package gocode

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/source/folder"
	"github.com/omnigraph-go/omnigraph/internal/source/freshness"
)

// maxSource is the size up to which a source file is read, in bytes.
const maxSource = 32 << 20

// survey is what a folder has, before the go command reads it.
type survey struct {
	folder  *folder.Folder
	modules []string        // absolute paths of the folders with a go.mod, without those that the go command skips
	hidden  map[string]bool // absolute paths of the files that must not be read
	closed  []string        // absolute paths of the folders that this process may not read
	began   time.Time
}

// surveyed looks through a folder, and follows no links. The files that must not be read are pipes,
// devices, sockets, links that lead out of the folder, and files with more than maxSource bytes that the go
// command would read.
func surveyed(ctx context.Context, dir string) (*survey, error) {
	f, err := folder.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &survey{folder: f, hidden: map[string]bool{}, began: time.Now()}
	err = filepath.WalkDir(f.Dir(), func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case errors.Is(err, fs.ErrPermission):
			s.closed = append(s.closed, name)
			return filepath.SkipDir
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case s.mustHide(name, d):
			s.hidden[name] = true
		case d.Name() == "go.mod" && d.Type().IsRegular() && !s.isSkipped(filepath.Dir(name)):
			s.modules = append(s.modules, filepath.Dir(name))
		}
		return nil
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// mustHide reports whether a file must not be read.
func (s *survey) mustHide(name string, d fs.DirEntry) bool {
	source := path.Ext(d.Name()) == ".go" || slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}, d.Name())
	switch {
	case d.Type().IsRegular():
		info, err := d.Info()
		return err == nil && source && info.Size() > maxSource
	case d.Type()&fs.ModeSymlink == 0:
		return true
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil || !within(s.folder.Dir(), target) {
		info, err := os.Stat(name)
		return err != nil || !info.IsDir() // the go command does not read linked folders, and load checks what it reads
	}
	info, err := os.Stat(target)
	return err != nil || !info.IsDir() && (!info.Mode().IsRegular() || source && info.Size() > maxSource)
}

// isSkipped reports whether the go command skips a folder below the one that was surveyed, or whether it
// belongs to a package manager of JavaScript.
func (s *survey) isSkipped(dir string) bool {
	rel, err := filepath.Rel(s.folder.Dir(), dir)
	if err != nil || rel == "." {
		return err != nil
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if freshness.IsSkipped(name) {
			return true
		}
	}
	return false
}

// within reports whether a path is that of a folder or below it.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// overlay writes a file that tells the go command that the hidden files do not exist. It returns the flag that
// names it, or "" if no file is hidden, and a function that removes the file.
func (s *survey) overlay() (flag string, remove func(), err error) {
	if len(s.hidden) == 0 {
		return "", func() {}, nil
	}
	replace := map[string]string{}
	for name := range s.hidden {
		replace[name] = ""
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	file, err := os.CreateTemp("", "omnigraph-overlay-*.json")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.Remove(file.Name()) }
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return "-overlay=" + file.Name(), remove, nil
}
