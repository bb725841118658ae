//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package fs

import "os"

// Map reads a file into memory.
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

// mapFile reads an open file into memory. The argument `name` is the path of the file.
func mapFile(f *os.File, name string) (*Mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := aligned(int(info.Size()))
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return &Mapping{data: data}, nil
}
