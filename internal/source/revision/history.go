package revision

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// maxObject is the size up to which a commit or a tree is read, in bytes.
const maxObject = 64 << 20

// maxMetadata is the size up to which a file of a repository that is not a pack is read, in bytes.
const maxMetadata = 1 << 30

// history reads commits and trees of a repository.
type history struct{ storage *filesystem.Storage }

// openHistory opens the repository whose folder .git is given.
func openHistory(gitDir string) (*history, error) {
	info, err := os.Stat(gitDir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", gitDir)
	}
	var files billy.Filesystem = regularFiles{osfs.New(gitDir, osfs.WithBoundOS())}
	// A folder that git worktree made has its own HEAD, and shares the rest with the repository.
	switch common, err := pathIn(filepath.Join(gitDir, "commondir"), ""); {
	case err == nil:
		files = dotgit.NewRepositoryFilesystem(files, regularFiles{osfs.New(common, osfs.WithBoundOS())})
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	// With the threshold, objects are read as streams, so that their size can be bounded.
	options := filesystem.Options{LargeObjectThreshold: 1}
	return &history{filesystem.NewStorageWithOptions(files, cache.NewObjectLRUDefault(), options)}, nil
}

func (h *history) close() { _ = h.storage.Close() }

// regularFiles is a file system that opens regular files for reading, and no other files.
type regularFiles struct{ billy.Filesystem }

// Open implements [billy.Basic].
func (f regularFiles) Open(name string) (billy.File, error) {
	return f.OpenFile(name, os.O_RDONLY, 0)
}

// OpenFile implements [billy.Basic].
func (f regularFiles) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	if flag != os.O_RDONLY {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrPermission}
	}
	info, err := f.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir(): // a reference whose name is that of a folder
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	case !info.Mode().IsRegular():
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
	case info.Size() > maxMetadata && filepath.Ext(name) != ".pack":
		return nil, &os.PathError{Op: "open", Path: name, Err: fmt.Errorf("it has more than %d bytes", maxMetadata)}
	}
	return f.Filesystem.OpenFile(name, flag, perm)
}

// head returns the commit that is checked out.
func (h *history) head() (plumbing.Hash, error) {
	ref, err := storer.ResolveReference(h.storage, plumbing.HEAD)
	switch {
	case errors.Is(err, plumbing.ErrReferenceNotFound):
		return plumbing.ZeroHash, errors.New("there is no commit yet, or the references have a format that omnigraph does not read")
	case err != nil:
		return plumbing.ZeroHash, err
	case ref.Hash().IsZero():
		return plumbing.ZeroHash, errors.New("it names no commit")
	}
	return ref.Hash(), nil
}

// object returns the content of an object of a type. go-git panics on some corrupt files.
func (h *history) object(t plumbing.ObjectType, hash plumbing.Hash) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the object %s is corrupt: %v", hash, r)
		}
	}()
	object, err := h.storage.EncodedObject(t, hash)
	if err != nil {
		return nil, fmt.Errorf("the object %s: %w", hash, err)
	}
	r, err := object.Reader()
	if err != nil {
		return nil, fmt.Errorf("the object %s: %w", hash, err)
	}
	defer r.Close()
	if text, err = io.ReadAll(io.LimitReader(r, maxObject+1)); err != nil {
		return nil, fmt.Errorf("the object %s: %w", hash, err)
	}
	if len(text) > maxObject {
		return nil, fmt.Errorf("the object %s has more than %d bytes", hash, maxObject)
	}
	return text, nil
}

// treeOf returns the tree of a commit.
func (h *history) treeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	text, err := h.object(plumbing.CommitObject, commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	name, ok := bytes.CutPrefix(line, []byte("tree "))
	if !ok || !plumbing.IsHash(string(name)) {
		return plumbing.ZeroHash, errors.New("it names no tree")
	}
	return plumbing.NewHash(string(name)), nil
}

// entries returns the entries of a tree by name. The tree with the hash 0 has none.
func (h *history) entries(of plumbing.Hash) (map[string]entry, error) {
	out := map[string]entry{}
	if of.IsZero() {
		return out, nil
	}
	text, err := h.object(plumbing.TreeObject, of)
	if err != nil {
		return nil, err
	}
	for len(text) > 0 {
		mode, rest, ok := bytes.Cut(text, []byte(" "))
		name, rest, also := bytes.Cut(rest, []byte{0})
		var e entry
		if !ok || !also || len(rest) < len(e.hash) {
			return nil, fmt.Errorf("the tree %s is corrupt", of)
		}
		e.kind = kindOf(string(mode))
		text = rest[copy(e.hash[:], rest):]
		out[string(name)] = e
	}
	return out, nil
}
