//go:build unix

package fs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile locks an open file exclusively. The lock belongs to this open file, so lockFile also
// refuses a second opening in the same process. The result `held` reports that another opening has
// the lock.
func lockFile(f *os.File) (held bool, err error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return false, nil
		case unix.EWOULDBLOCK:
			return true, nil
		case unix.EINTR:
		default:
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// lockDir locks an open directory like lockFile. The result `can` is false, without an error, if
// the file system cannot lock directories, as is the case for some network file systems.
func lockDir(f *os.File) (held, can bool, err error) {
	held, err = lockFile(f)
	switch {
	case errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOLCK):
		return false, false, nil
	}
	return held, err == nil, err
}

// identity identifies a file or directory among all that exist at the same time.
type identity struct{ dev, ino uint64 }

// identify returns the identity of an open file or directory.
func identify(f *os.File) (identity, error) {
	var st unix.Stat_t
	for {
		switch err := unix.Fstat(int(f.Fd()), &st); err {
		case nil:
			return identity{uint64(st.Dev), st.Ino}, nil
		case unix.EINTR:
		default:
			return identity{}, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
		}
	}
}

// leadsTo reports whether a path leads to the file or directory.
func (id identity) leadsTo(path string) (bool, error) {
	for {
		switch found, err := lookUp(path); err {
		case nil:
			return found == id, nil
		case unix.EINTR:
		case unix.ENOENT, unix.ENOTDIR:
			return false, nil
		default:
			return false, &os.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}

// statIdentity returns the identity of the file or directory at a path.
func statIdentity(path string) (identity, error) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return identity{uint64(st.Dev), st.Ino}, err
}

// links returns the number of names that a file has.
func links(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// isNoSpace reports whether err says that the disk or the user's quota is full.
func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = syncOpenDir(d)
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}

// syncOpenDir makes the names in an open directory durable.
func syncOpenDir(d *os.File) error { return d.Sync() }
