// Package outfile writes the files and folders that a verb makes: as a whole or not at all.
package outfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// Write writes to a file, or to standard output for "-". It replaces a regular file atomically
// and keeps the file's permissions. If the path is a symbolic link to a file, it replaces the file
// and keeps the link. It writes directly to an existing file that is not regular, such as a pipe or
// a device.
func Write(cmd *cobra.Command, out string, write func(io.Writer) error) error {
	if out == "-" {
		return write(cmd.OutOrStdout())
	}
	info, err := os.Stat(out)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		return writeTo(f, write)
	}
	if err == nil {
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return err
		}
	}
	// The temporary name must be unique, because another export may be writing the same file.
	f, err := os.OpenFile(out+".tmp-"+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if info != nil {
		err = f.Chmod(info.Mode().Perm()) // while the file is still empty
	}
	if err == nil {
		err = writeTo(f, write)
	} else {
		f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// writeTo writes to a file and closes it.
func writeTo(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// WriteFolder creates a folder atomically: the folder appears with all its files or not at all.
func WriteFolder(out string, write func(dir string) error) error {
	switch there, err := os.ReadDir(out); {
	case len(there) > 0:
		return fmt.Errorf("%s is not empty; name a folder that is empty or does not exist", out)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	out = filepath.Clean(out)
	dir, err := os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".tmp-")
	if err != nil {
		return err
	}
	err = write(dir)
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		// Remove an existing empty folder, because some systems cannot rename onto it.
		if err = os.Remove(out); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(dir, out)
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return err
}
