//go:build unix

package fs

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock that belongs to this opening of the file, so that a second
// opening in the same process is refused too. It reports whether another holds it.
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

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}
