package fs

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset lies behind the text of the lock file, since a locked range cannot be read
// by others.
const lockOffset = 1 << 20

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

// syncDir does nothing: directories cannot be synced here, and NTFS keeps the order of
// its changes in its own journal.
func syncDir(string) error { return nil }
