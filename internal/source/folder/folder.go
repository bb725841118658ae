// Package folder reads regular files below a folder that somebody else may have written. It reads
// nothing outside of the folder, and it never waits for a pipe or a device.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxLines is the size up to which Lines counts the lines of a file, in bytes.
const maxLines = 1 << 30

// ErrNotRegular is the error for a directory, a pipe, a device or a socket.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrTooLarge is the error for a file that has more bytes than the caller accepts.
var ErrTooLarge = errors.New("it is too large")

// Folder is an open folder.
type Folder struct {
	dir  string // its path, without symbolic links
	root *os.Root
}

// Open opens a folder. The folder itself may be a symbolic link.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{dir, root}, nil
}

// Dir returns the absolute path of the folder, without symbolic links.
func (f *Folder) Dir() string { return f.dir }

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// OpenFile opens a file for reading. The name is a path relative to the folder, or an absolute path
// in it. The error says why if the name leads out of the folder, or to no regular file.
func (f *Folder) OpenFile(name string) (*os.File, os.FileInfo, error) {
	rel, err := f.relative(name)
	if err != nil {
		return nil, nil, err
	}
	// Opening some devices has an effect, so Stat comes first. O_NONBLOCK keeps the call from waiting
	// if a pipe has taken the place of the file since then.
	info, err := f.root.Stat(rel)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &os.PathError{Op: "open", Path: rel, Err: ErrNotRegular}
	}
	file, err := f.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: rel, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// relative returns the path of a file relative to the folder.
func (f *Folder) relative(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return name, nil
	}
	rel, err := filepath.Rel(f.dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is outside of the folder %s", name, f.dir)
	}
	return rel, nil
}

// ReadFile returns the content of a file that OpenFile can open and that has at most `most` bytes.
func (f *Folder) ReadFile(name string, most int64) ([]byte, error) {
	file, info, err := f.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tooLarge := &os.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, most)}
	if info.Size() > most {
		return nil, tooLarge
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = tooLarge
	}
	return text, err
}

// Lines returns the number of lines of a file, or false if the file cannot be read or has more than
// 1 GiB.
func (f *Folder) Lines(name string) (int, bool) {
	file, info, err := f.OpenFile(name)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	if info.Size() > maxLines {
		return 0, false
	}
	lines, last := 0, byte('\n')
	buf := make([]byte, 1<<16)
	for r := io.LimitReader(file, maxLines); ; {
		n, err := r.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if n > 0 {
			last = buf[n-1]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, false
		}
	}
	if last != '\n' {
		lines++
	}
	return lines, true
}
