package fs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync. Unlike fsync, it does not write the times of the file, which
// would cost a journal write each time.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}
