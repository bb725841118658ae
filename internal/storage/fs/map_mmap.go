//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fs

import (
	"os"
	"syscall"
)

// Map maps a file into memory.
func (osFS) Map(name string) (*Mapping, error) {
	if err := regular(name, os.Lstat); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapFile(f, name)
}

// mapFile maps an open file into memory. The argument `name` is the path of the file.
func mapFile(f *os.File, name string) (*Mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if size == 0 {
		return &Mapping{}, nil
	}
	if int64(int(size)) != size {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: syscall.EFBIG}
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	// If unmapping fails, this only wastes address space.
	m := newMapping(name, data, func(data []byte) { _ = syscall.Munmap(data) })
	m.mapped = true
	return m, nil
}
