package revision

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/omnigraph-go/omnigraph/internal/source/folder"
)

// maxHashed is the number of bytes of files that a comparison reads at most.
const maxHashed = 8 << 30

// maxIgnoreFile is the size up to which a file with patterns of ignored files is read, in bytes.
const maxIgnoreFile = 1 << 20

// comparison compares the files of a folder with a tree of the repository.
type comparison struct {
	history *history
	root    string          // the folder of the repository
	read    map[string]bool // absolute paths of the files that count although Git ignores them
	files   *folder.Folder
	ignored []gitignore.Pattern
	hashed  int64 // bytes that were read so far
}

// below reports whether files below a folder differ from a tree of the whole repository. The argument
// `rel` is the path of the folder in the repository.
func (c *comparison) below(ctx context.Context, top plumbing.Hash, rel string) (bool, error) {
	files, err := folder.Open(c.root)
	if err != nil {
		return false, err
	}
	defer files.Close()
	c.files = files
	c.ignored = usersPatterns()
	c.readPatterns(filepath.Join(".git", "info", "exclude"), nil)
	at, path := top, []string(nil)
	if rel != "." {
		for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
			c.readPatterns(filepath.Join(append(path, ".gitignore")...), path)
			entries, err := c.history.entries(at)
			if err != nil {
				return false, err
			}
			if at = plumbing.ZeroHash; entries[name].kind == tree {
				at = entries[name].hash
			}
			path = append(path, name)
		}
	}
	return c.differs(ctx, at, path)
}

// differs reports whether the files in a folder, which is the path from the repository's folder, differ
// from a tree. The hash 0 stands for an empty tree.
func (c *comparison) differs(ctx context.Context, of plumbing.Hash, path []string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	entries, err := c.history.entries(of)
	if err != nil {
		return false, err
	}
	there, err := os.ReadDir(filepath.Join(append([]string{c.root}, path...)...))
	if err != nil {
		return false, err
	}
	outer := c.ignored
	defer func() { c.ignored = outer }()
	c.readPatterns(filepath.Join(append(path, ".gitignore")...), path)
	for _, d := range there {
		name := d.Name()
		if name == ".git" {
			continue
		}
		e, tracked := entries[name]
		delete(entries, name)
		at := append(path[:len(path):len(path)], name)
		var differs bool
		switch {
		case tracked && e.kind == submodule:
		case d.IsDir() && tracked && e.kind == tree:
			differs, err = c.differs(ctx, e.hash, at)
		case tracked:
			differs, err = c.fileDiffers(ctx, d, e, at)
		case d.IsDir():
			if !c.isIgnored(at, true) || c.holdsRead(at) {
				differs, err = c.differs(ctx, plumbing.ZeroHash, at)
			}
		default:
			file := d.Type().IsRegular() || d.Type()&os.ModeSymlink != 0 // Git sees no other files
			differs = file && (!c.isIgnored(at, false) || c.read[filepath.Join(append([]string{c.root}, at...)...)])
		}
		if differs || err != nil {
			return differs, err
		}
	}
	for _, e := range entries {
		if e.kind != submodule {
			return true, nil // it was removed
		}
	}
	return false, nil
}

// isIgnored reports whether Git ignores a path that it does not track.
func (c *comparison) isIgnored(path []string, isDir bool) bool {
	// A pattern that ignores a folder also ignores what is in it.
	for n := 1; n <= len(path); n++ {
		if gitignore.NewMatcher(c.ignored).Match(path[:n], isDir || n < len(path)) {
			return true
		}
	}
	return false
}

// holdsRead reports whether one of the files that the caller has read is below a path.
func (c *comparison) holdsRead(path []string) bool {
	dir := filepath.Join(append([]string{c.root}, path...)...) + string(filepath.Separator)
	for name := range c.read {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// readPatterns adds the patterns of ignored files in a file, if it exists. The argument `path` is the
// folder for which they are.
func (c *comparison) readPatterns(name string, path []string) {
	text, err := c.files.ReadFile(name, maxIgnoreFile)
	if err != nil {
		return // then more files count as added
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			c.ignored = append(c.ignored[:len(c.ignored):len(c.ignored)], gitignore.ParsePattern(line, path))
		}
	}
}

// usersPatterns returns the patterns of the files that Git ignores in all repositories of this user.
func usersPatterns() []gitignore.Pattern {
	patterns, err := gitignore.LoadGlobalPatterns(osfs.New(string(filepath.Separator)))
	if err != nil {
		return nil // then more files count as added
	}
	return patterns
}

// fileDiffers reports whether a file or a symbolic link differs from the entry of a tree.
func (c *comparison) fileDiffers(ctx context.Context, d os.DirEntry, e entry, path []string) (bool, error) {
	name := filepath.Join(path...)
	switch {
	case e.kind == link && d.Type()&os.ModeSymlink != 0:
		target, err := os.Readlink(filepath.Join(c.root, name))
		return plumbing.ComputeHash(plumbing.BlobObject, []byte(filepath.ToSlash(target))) != e.hash, err
	case e.kind != regular || !d.Type().IsRegular():
		return true, nil
	}
	file, info, err := c.files.OpenFile(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if c.hashed += info.Size(); c.hashed > maxHashed {
		return false, fmt.Errorf("the files have more than %d bytes", maxHashed)
	}
	hash, returns, err := hashFile(ctx, file, info.Size(), 0)
	if err != nil || hash == e.hash || returns == 0 {
		return hash != e.hash, err
	}
	// Git may have written the ends of lines in another way than it stores them.
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	hash, _, err = hashFile(ctx, file, info.Size(), returns)
	return hash != e.hash, err
}

// hashFile returns the hash that Git gives to the content of a file with a size, and the number of
// line ends \r\n. If `leave` is not 0, it is that number, and each \r\n counts as \n.
func hashFile(ctx context.Context, file io.Reader, size, leave int64) (hash plumbing.Hash, returns int64, err error) {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size-leave)
	r := bufio.NewReaderSize(io.LimitReader(file, size), 1<<16)
	for n := int64(0); ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return hash, 0, ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		if rest, ok := bytes.CutSuffix(part, []byte("\r\n")); ok {
			returns++
			if leave > 0 {
				h.Write(rest)
				part = part[len(part)-1:]
			}
		}
		h.Write(part)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if err == io.EOF {
				err = nil
			}
			h.Sum(hash[:0])
			return hash, returns, err
		}
	}
}
