package fs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is after the text of the lock file, since other processes cannot read a locked
// range.
const lockOffset = 1 << 20

// lockFile locks an open file. The result `held` is true if another process has the lock.
func lockFile(f *os.File) (held bool, err error) {
	at := &windows.Overlapped{Offset: lockOffset}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	switch err {
	case nil:
		return false, nil
	case windows.ERROR_LOCK_VIOLATION:
		return true, nil
	}
	return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}

// lockDir does nothing, because Windows cannot lock directories. While files in a directory
// are open, Windows does not allow renaming the directory or removing its lock file.
func lockDir(*os.File) (held, can bool, err error) { return false, false, nil }

// identity identifies a file or directory among all that exist at the same time.
type identity struct{ info os.FileInfo }

// identify returns the identity of an open file or directory.
func identify(f *os.File) (identity, error) {
	info, err := f.Stat()
	return identity{info}, err
}

// leadsTo reports whether a path leads to the file or directory.
func (id identity) leadsTo(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(info, id.info), err
}

// links returns the number of names that a file has. Here it is always 1, since other names
// are not looked up.
func links(os.FileInfo) uint64 { return 1 }

// isNoSpace reports whether err says that the disk or the quota of the user is full.
func isNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// syncDir does nothing: Windows cannot sync directories, and NTFS keeps the order of their
// changes in its own journal.
func syncDir(string) error { return nil }

// syncOpenDir does nothing, for the same reasons as [syncDir].
func syncOpenDir(*os.File) error { return nil }
