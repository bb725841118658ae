package freshness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxReference and maxPacked bound what is read of the references of a repository, in bytes.
const (
	maxReference = 4 << 10
	maxPacked    = 64 << 20
)

// Head returns the commit that is checked out in the Git repository of a folder. It reads HEAD and the reference that HEAD
// names, and nothing else of the repository.
func Head(dir string) (string, error) {
	git, err := gitFolder(dir)
	if err != nil {
		return "", err
	}
	// A folder that git worktree made has its own HEAD, and shares the other references with the repository.
	common := git
	if path, err := firstLine(filepath.Join(git, "commondir")); err == nil {
		if common = filepath.FromSlash(path); !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
	}
	text, err := firstLine(filepath.Join(git, "HEAD"))
	for n := 0; err == nil && n < 5; n++ {
		name, symbolic := strings.CutPrefix(text, "ref: ")
		if !symbolic {
			if isHash(text) {
				return text, nil
			}
			break
		}
		if !filepath.IsLocal(name) || !strings.HasPrefix(name, "refs/") {
			break
		}
		text, err = firstLine(filepath.Join(git, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			text, err = firstLine(filepath.Join(common, filepath.FromSlash(name)))
		}
		if errors.Is(err, fs.ErrNotExist) {
			text, err = packed(filepath.Join(common, "packed-refs"), name)
		}
	}
	if err != nil {
		return "", fmt.Errorf("HEAD of the repository cannot be read: %w", err)
	}
	return "", errors.New("HEAD of the repository names no commit in a form that is read here")
}

// gitFolder returns the folder .git of the repository of a folder.
func gitFolder(dir string) (string, error) {
	for {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			return git, nil
		case err == nil:
			text, err := firstLine(git)
			path, ok := strings.CutPrefix(text, "gitdir: ")
			if err != nil || !ok {
				return "", errors.New("the file .git does not name the folder of a Git repository")
			}
			if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the folder belongs to no Git repository")
		}
		dir = parent
	}
}

// open opens a regular file for reading. It never waits for a pipe.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", filepath.Base(name))
	}
	return os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
}

// firstLine returns the first line of a small file.
func firstLine(name string) (string, error) {
	file, err := open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxReference))
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line), err
}

// packed returns the hash of a reference in a file packed-refs.
func packed(name, reference string) (string, error) {
	file, err := open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxPacked))
	for lines.Scan() {
		if hash, found, ok := strings.Cut(lines.Text(), " "); ok && found == reference {
			return hash, nil
		}
	}
	return "", errors.Join(lines.Err(), fmt.Errorf("there is no reference %s", reference))
}

// isHash reports whether a text is the name of a Git object.
func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
