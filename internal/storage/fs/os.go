package fs

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OS returns the file system of the operating system. Only the owner of a file may read and
// write it.
func OS() FS { return osFS{} }

// osFS is the file system of the operating system.
type osFS struct{}

// osFile is an open file of the operating system.
type osFile struct {
	*os.File
	id identity // identity of a file in a Dir
}

// Create implements [FS].
func (osFS) Create(name string) (File, error) {
	return open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

// Open implements [FS].
func (osFS) Open(name string) (File, error) { return open(name, os.O_RDONLY) }

// OpenWrite implements [FS].
func (osFS) OpenWrite(name string) (File, error) { return open(name, os.O_RDWR) }

// Rename implements [FS].
func (osFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

// Remove implements [FS].
func (osFS) Remove(name string) error { return os.Remove(name) }

// List implements [FS].
func (osFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	return listed(entries), nil
}

func (s osFS) MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &os.PathError{Op: "mkdir", Path: dir, Err: iofs.ErrExist}
	case !errors.Is(err, iofs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(dir)
	if err := s.MkdirAll(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	return s.SyncDir(parent)
}

// SyncDir implements [FS].
func (osFS) SyncDir(dir string) error { return syncDir(dir) }

// Lock locks a file and writes the process id into it.
func (osFS) Lock(name string) (io.Closer, error) {
	if err := regular(name, os.Lstat); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := claim(f, name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// claim locks an open lock file and writes the process id into it. The argument `name` is the path
// of the file.
func claim(f *os.File, name string) error {
	held, err := lockFile(f)
	if err != nil {
		return err
	}
	if held {
		return &LockedError{Name: name, PID: readPID(f)}
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil && !isNoSpace(err) {
		return err
	}
	return nil
}

// readPID returns the process id in a lock file, 0 if there is none. The id may be missing
// or stale for a moment after the lock changes hands, so use it only in messages.
func readPID(f *os.File) int {
	text := make([]byte, 20)
	n, _ := f.ReadAt(text, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	return pid
}

// Size implements [File].
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync implements [File].
func (f osFile) Sync() error { return syncFile(f.File) }

// ErrNotRegular is the error for a name that is not that of a regular file. A folder of data may come from
// somebody else, so a link in it is not followed, and a pipe is not waited for.
var ErrNotRegular = errors.New("it is not a regular file; links, pipes and devices are not read, so put the file itself there")

// regular returns an error if a name leads to something other than a regular file. The function lstat returns
// information about the name. An error of lstat is left to the operation that follows.
func regular(name string, lstat func(string) (os.FileInfo, error)) error {
	if info, err := lstat(name); err == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return nil
}

// open opens a file with flags of package os.
func open(name string, flag int) (File, error) {
	if flag&os.O_EXCL == 0 {
		if err := regular(name, os.Lstat); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{File: f}, nil
}

// listed returns the names of directory entries.
func listed(entries []os.DirEntry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
