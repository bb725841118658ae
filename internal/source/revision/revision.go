// Package revision finds out which commit of its repository a folder holds. It runs no program, and it
// reads nothing of a repository but HEAD, references, the commit and its trees: what the repository
// configures, such as filters, hooks and file monitors, has no effect.
package revision

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// State says which commit a folder holds.
type State struct {
	Commit string // empty if it is not known

	// Modified says whether files below the folder differ from the commit: whether one was changed,
	// added or removed. Files that Git ignores count only if the caller has read them. It is nil if that is not
	// known. A file that Git changes when it checks it out counts as changed, unless only the ends
	// of its lines differ.
	Modified *bool

	// Unknown says why the commit, or whether files differ from it, is not known.
	Unknown string
}

// Of returns the state of a folder. The argument `read` lists the absolute paths of the files that the
// caller has read; those that are not below the folder have no effect. The error is that of the context.
func Of(ctx context.Context, dir string, read []string) (State, error) {
	var s State
	modified, err := s.find(ctx, dir, read)
	switch {
	case ctx.Err() != nil:
		return State{}, ctx.Err()
	case err != nil:
		s.Unknown = err.Error()
	default:
		s.Modified = &modified
	}
	return s, nil
}

// find sets the commit, and reports whether files below the folder differ from it.
func (s *State) find(ctx context.Context, dir string, read []string) (bool, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false, err
	}
	root, gitDir, err := repositoryOf(dir)
	if err != nil {
		return false, err
	}
	h, err := openHistory(gitDir)
	if err != nil {
		return false, fmt.Errorf("the repository cannot be read: %w", err)
	}
	defer h.close()
	commit, err := h.head()
	if err != nil {
		return false, fmt.Errorf("HEAD of the repository cannot be read: %w", err)
	}
	s.Commit = commit.String()
	tree, err := h.treeOf(commit)
	if err != nil {
		return false, fmt.Errorf("it is not known whether files differ from the commit %s, which cannot be read: %w", commit, err)
	}
	c := &comparison{history: h, root: root, read: map[string]bool{}}
	for _, name := range read {
		c.read[name] = true
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return false, err
	}
	modified, err := c.below(ctx, tree, rel)
	if err != nil {
		return false, fmt.Errorf("it is not known whether files differ from the commit %s: %w", commit, err)
	}
	return modified, nil
}

// repositoryOf returns the folder of the repository that a folder belongs to, and its folder .git.
func repositoryOf(dir string) (root, gitDir string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Lstat(git)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return "", "", err
		case info.IsDir():
			return at, git, nil
		case info.Mode().IsRegular():
			gitDir, err := pathIn(git, "gitdir:")
			return at, gitDir, err
		default:
			return "", "", errors.New(".git is neither a folder nor a file; replace it with the folder itself")
		}
		if filepath.Dir(at) == at {
			return "", "", errors.New("the folder belongs to no Git repository")
		}
	}
}

// pathIn returns the path that the first line of a file names after a prefix. The path may be relative to
// the folder of the file.
func pathIn(name, prefix string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", filepath.Base(name))
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file) // which bounds the length of the line
	lines.Scan()
	path, ok := strings.CutPrefix(lines.Text(), prefix)
	if path = strings.TrimSpace(path); !ok || path == "" {
		return "", fmt.Errorf("the file %s does not name the folder of a Git repository", filepath.Base(name))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(name), path)
	}
	return path, nil
}

// kindOf returns the kind of the entry of a tree with a mode.
func kindOf(mode string) kind {
	switch mode {
	case "40000":
		return tree
	case "120000":
		return link
	case "160000":
		return submodule
	}
	return regular
}

// kind is the kind of an entry of a tree.
type kind int

const (
	regular kind = iota
	link
	tree
	submodule
)

// entry is an entry of a tree.
type entry struct {
	kind kind
	hash plumbing.Hash
}
