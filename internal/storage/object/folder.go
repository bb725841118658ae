package object

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Folder is a Bucket in one folder of a file system, for processes on one machine. Each object is a
// file. Its file name is the object's name with "+" for each "/".
//
// Create writes a temporary file, syncs it, and links it to the final name; the file system lets only
// one process make that link. A crash can leave temporary files behind. Their names start with
// "~"; an operator may remove them while no process uses the folder.
type Folder struct {
	fsys fs.Linker     // the file system
	dir  string        // path of the folder
	id   string        // differs for each Folder; part of the names of temporary files
	made atomic.Uint64 // number of temporary files made so far
}

// NewFolder returns the Bucket in a folder, which it makes if it is missing. The file system must
// have hard links.
func NewFolder(fsys fs.FS, dir string) (*Folder, error) {
	linker, ok := fsys.(fs.Linker)
	if !ok {
		return nil, fmt.Errorf("cannot keep objects in %s: the file system has no hard links; use another one", dir)
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, err
	}
	return &Folder{fsys: linker, dir: dir, id: rand.Text()}, nil
}

// Create implements [Bucket].
func (f *Folder) Create(ctx context.Context, name string, data []byte) error {
	if err := Check(ctx, name, data); err != nil {
		return err
	}
	return f.writeTemporary(name, bytes.NewReader(data), func(temporary string) error {
		err := f.fsys.Link(temporary, f.path(name))
		switch {
		case errors.Is(err, iofs.ErrExist):
			// Another process may have made the link a moment ago and not yet synced the folder.
			if err := f.fsys.SyncDir(f.dir); err != nil {
				return unknown(name, err)
			}
			return fmt.Errorf("creating %s: %w", name, ErrExists)
		case err != nil:
			return err
		}
		if err := f.fsys.SyncDir(f.dir); err != nil {
			return unknown(name, err)
		}
		return nil
	})
}

// Upload implements [Bucket].
func (f *Folder) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := CheckUpload(ctx, name, size); err != nil {
		return err
	}
	counted := &countingReader{r: io.LimitReader(r, size+1)}
	return f.writeTemporary(name, counted, func(temporary string) error {
		if counted.n != size {
			return &SizeError{Name: name, Size: size}
		}
		return f.replace(name, temporary)
	})
}

// Put implements [Bucket].
func (f *Folder) Put(ctx context.Context, name string, data []byte) error {
	if err := Check(ctx, name, data); err != nil {
		return err
	}
	return f.writeTemporary(name, bytes.NewReader(data), func(temporary string) error {
		return f.replace(name, temporary)
	})
}

// Read implements [Bucket]. It syncs the folder, so that a power failure cannot undo the creation of
// an object that a caller has seen.
func (f *Folder) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := Check(ctx, name, nil); err != nil {
		return nil, err
	}
	if err := CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	file, err := f.fsys.Open(f.path(name))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", name, ErrNotFound)
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := f.fsys.SyncDir(f.dir); err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	rest := max(size-offset, 0)
	if length == Whole || length > rest {
		length = rest
	}
	data := make([]byte, length)
	if n, err := file.ReadAt(data, offset); int64(n) < length {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

// List implements [Bucket]. It reads the names of all files in the folder.
func (f *Folder) List(ctx context.Context, prefix, after string, limit int) ([]Entry, error) {
	if err := CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := f.fsys.List(f.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if name := strings.ReplaceAll(file, "+", "/"); CheckName(name) == nil {
			names = append(names, name)
		}
	}
	var entries []Entry
	for _, name := range page(names, prefix, after, limit) {
		size, err := f.size(name)
		if errors.Is(err, iofs.ErrNotExist) {
			continue // another caller deleted it just now
		} else if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: name, Size: size})
	}
	return entries, nil
}

// Delete implements [Bucket].
func (f *Folder) Delete(ctx context.Context, name string) error {
	if err := Check(ctx, name, nil); err != nil {
		return err
	}
	err := f.fsys.Remove(f.path(name))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := f.fsys.SyncDir(f.dir); err != nil {
		return unknown(name, err)
	}
	return nil
}

// path returns the path of an object's file.
func (f *Folder) path(name string) string {
	return filepath.Join(f.dir, strings.ReplaceAll(name, "/", "+"))
}

// size returns the length of an object's file.
func (f *Folder) size(name string) (int64, error) {
	file, err := f.fsys.Open(f.path(name))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.Size()
}

// writeTemporary copies r to a new temporary file, syncs the file, and calls `publish` with its
// path. If the temporary file then still has its name, writeTemporary removes it.
func (f *Folder) writeTemporary(name string, r io.Reader, publish func(temporary string) error) (err error) {
	temporary := filepath.Join(f.dir, fmt.Sprintf("~%s-%d", f.id, f.made.Add(1)))
	file, err := f.fsys.Create(temporary)
	if err != nil {
		return err
	}
	defer func() { _ = f.fsys.Remove(temporary) }() // only frees space; after a rename this does nothing
	_, err = io.Copy(io.NewOffsetWriter(file, 0), r)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return publish(temporary)
}

// replace renames a temporary file, so that it becomes the file of an object, and syncs the folder.
func (f *Folder) replace(name, temporary string) error {
	if err := f.fsys.Rename(temporary, f.path(name)); err != nil {
		return err
	}
	if err := f.fsys.SyncDir(f.dir); err != nil {
		return unknown(name, err)
	}
	return nil
}

// unknown returns an error that matches ErrUnknown, for a sync that failed after a change in the
// folder.
func unknown(name string, cause error) error {
	return fmt.Errorf("syncing the folder of %s: %w: %w", name, ErrUnknown, cause)
}

// countingReader counts the bytes that it passes on.
type countingReader struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
