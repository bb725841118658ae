// Package fs is the small file interface for all durable input and output of the embedded
// engine.
//
// [OS] is the operating system's file system. [Mem] keeps files in memory. It distinguishes
// durable data from data that is only written, so that a test can simulate a power failure
// at any operation. Package faultfs wraps another file system and
// makes chosen operations fail.
package fs

import (
	"fmt"
	"io"
	iofs "io/fs"
)

// FS is a file system. Names are paths in the form of package path/filepath. Its methods
// may be called concurrently. The error for a missing or an existing file matches
// io/fs.ErrNotExist or io/fs.ErrExist. Only regular files are opened: for links, pipes and devices the
// error matches ErrNotRegular.
//
// A change of a directory (Create, Rename, Remove) is durable after the next SyncDir of
// that directory. The content of a file is durable after the next Sync of the file. Before
// that a power failure may undo any part of it, in any order, except that a Rename is
// either undone completely or not at all.
type FS interface {
	// Create creates an empty file and opens it for reading and writing. It fails if the
	// name exists.
	Create(name string) (File, error)

	// Open opens an existing file for reading.
	Open(name string) (File, error)

	// Map returns the current content of an existing file, for reading. After a write to the file
	// while it is mapped, the writer must call Written of the mapping. The file may be renamed and removed.
	Map(name string) (*Mapping, error)

	// OpenWrite opens an existing file for reading and writing.
	OpenWrite(name string) (File, error)

	// Rename renames a file within its directory. It replaces an existing file of the new
	// name.
	Rename(oldName, newName string) error

	// Remove removes the name of a file. Open files stay readable.
	Remove(name string) error

	// List returns the sorted names in a directory, without the directory's path.
	List(dir string) ([]string, error)

	// MkdirAll creates a directory and its missing parents. They are durable when it
	// returns.
	MkdirAll(dir string) error

	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error

	// Lock takes an exclusive lock. The lock is the file at the path `name`, in an existing
	// directory. The lock is held until the Closer is closed or the process ends. If another holder
	// has the lock, the error is a *LockedError.
	Lock(name string) (io.Closer, error)

	// LockDir opens an existing directory and locks it exclusively until the Dir is closed or the
	// process ends. It also locks the file with the given name in the directory, and writes the id
	// of this process into it. If another holder has either lock, the error is a *LockedError.
	LockDir(dir, name string) (Dir, error)
}

// Dir is a directory that this process has locked. As arguments, its FS methods take the same paths
// as those of the FS that locked it. If a path leads to a name in the directory, they use the locked
// directory, even after it was renamed or another directory has taken its path.
type Dir interface {
	FS
	io.Closer

	// Check returns a *MovedError unless the path of the directory still leads to the locked
	// directory. If `f` is an open file of the Dir, Check instead verifies that the path `name`,
	// which is in the directory, leads to `f`. This is cheaper and takes about a microsecond.
	// However, another directory at the path passes this second check if it has a hard link to `f`.
	Check(f File, name string) error

	// Shared reports whether the file with the given name has a second name, in any directory.
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

// LockedError reports that another holder has a lock.
type LockedError struct {
	Name string // of the lock file
	PID  int    // process id of the holder, 0 if unknown
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Name)
	}
	return fmt.Sprintf("%s is locked by process %d", e.Name, e.PID)
}

// MovedError reports that a path no longer leads to the directory or file that is open.
type MovedError struct{ Name string }

func (e *MovedError) Error() string {
	return e.Name + " was moved, removed or replaced while it was open"
}

// maxReadFile is the size up to which ReadFile reads a file, in bytes. A file may have holes, so that its size
// does not show how much memory its content takes.
const maxReadFile = 8 << 30

// ReadFile returns the content of a file. It fails if the file has more than 8 GiB.
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
	if size > maxReadFile {
		return nil, &iofs.PathError{Op: "read", Path: name, Err: fmt.Errorf("the file has %d bytes, which is more than any file of a graph that is read as a whole", size)}
	}
	data = make([]byte, size)
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return data, nil
}
