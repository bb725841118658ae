// Package fs is the one small file interface through which all durable input and
// output of the embedded engine goes.
//
// [OS] is the operating system's file system. [Mem] lives in memory and keeps what is
// durable apart from what is only written, so that a test can cut the power at any
// operation. [Faulty] wraps another file system and makes chosen operations fail.
package fs

import (
	"fmt"
	"io"
)

// FS is a file system. Names are paths in the form of package path/filepath. Its
// methods may be called concurrently. Missing and existing files are reported by
// errors that match io/fs.ErrNotExist and io/fs.ErrExist.
//
// A change of a directory (Create, Rename, Remove) is durable after the next SyncDir of
// that directory, the content of a file after the next Sync of the file. Until then a
// power failure may undo any part of it, in any order; only a Rename is there whole or
// not at all.
type FS interface {
	// Create makes an empty file and opens it for reading and writing. It fails if
	// the name exists.
	Create(name string) (File, error)

	// Open opens an existing file for reading.
	Open(name string) (File, error)

	// Map returns the content of an existing file as it is now, for reading. The file
	// must not be written while it is mapped; it may be renamed and removed.
	Map(name string) (*Mapping, error)

	// OpenWrite opens an existing file for reading and writing.
	OpenWrite(name string) (File, error)

	// Rename gives a file another name in the same directory, replacing what has it.
	Rename(oldName, newName string) error

	// Remove removes the name of a file. Open files stay readable.
	Remove(name string) error

	// List returns the names in a directory, without their directory, in order.
	List(dir string) ([]string, error)

	// MkdirAll makes a directory and its missing parents. They are durable when it
	// returns.
	MkdirAll(dir string) error

	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error

	// Lock takes the exclusive lock called name, a file in an existing directory, and
	// holds it until the Closer is closed or the process ends. When another holds it
	// the error is a *LockedError.
	Lock(name string) (io.Closer, error)

	// LockDir opens an existing directory and locks it, exclusively, until the Dir is
	// closed or the process ends. The file called name in it also is locked, and says
	// which process holds the lock. When another holds either lock the error is a
	// *LockedError.
	LockDir(dir, name string) (Dir, error)
}

// Dir is a directory that this process has locked. Its methods from FS take the names
// that the FS that locked it takes. For a name in the directory they work on the
// directory that was locked, also after it was renamed or another one has taken its path.
type Dir interface {
	FS
	io.Closer

	// Check returns a *MovedError unless the path of the directory still leads to the
	// directory that is locked. With an open file f of the Dir it looks instead whether
	// name, a path in the directory, leads to f: the cheaper check, of about a microsecond.
	// A directory that took the path passes the second check if it has f by a hard link.
	Check(f File, name string) error

	// Shared reports whether the file called name has another name, in any directory.
	Shared(name string) (bool, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer

	// Size returns the length in bytes.
	Size() (int64, error)

	// Sync makes the content and length durable.
	Sync() error
}

// LockedError says that a lock is held.
type LockedError struct {
	Name string // of the lock file
	PID  int    // of the holder, 0 if it is not known
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Name)
	}
	return fmt.Sprintf("%s is locked by process %d", e.Name, e.PID)
}

// MovedError says that a path no longer leads to the directory or file that is open.
type MovedError struct{ Name string }

func (e *MovedError) Error() string {
	return e.Name + " was moved, removed or replaced while it was open"
}

// ReadFile returns the content of a file.
func ReadFile(fsys FS, name string) (data []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	data = make([]byte, size)
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return data, nil
}
