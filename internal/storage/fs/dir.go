package fs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// IsNoSpace reports whether an operation failed because the disk, or the user's quota, is
// full.
func IsNoSpace(err error) bool { return isNoSpace(err) }

// osDir is a locked directory of the operating system.
//
// The lock is on the directory itself. So it stays valid when the lock file is renamed, removed or
// replaced, and when the directory is renamed. A copy of the directory is another directory with
// its own lock. Where the system cannot lock directories, the lock file is the only lock, and Check
// also verifies that the lock file is still in its place.
//
// A log file that is open for writing is locked too. So if two directories share files by hard
// links, only one of the directories can be open.
type osDir struct {
	osFS
	path   string   // the path that LockDir got, cleaned
	lock   string   // path of the lock file
	root   *os.Root // the directory; operations on its files go through it
	self   *os.File // holds the lock of the directory
	file   *os.File // the lock file
	id     identity // of the directory
	fileID identity // of the lock file
	whole  bool     // the directory itself is locked
}

// LockDir implements [FS].
func (osFS) LockDir(dir, name string) (_ Dir, err error) {
	d := &osDir{path: filepath.Clean(dir), lock: filepath.Join(dir, name)}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if d.root, err = os.OpenRoot(d.path); err != nil {
		return nil, err
	}
	if d.self, err = d.root.Open("."); err != nil {
		return nil, err
	}
	if d.id, err = identify(d.self); err != nil {
		return nil, err
	}
	held, can, err := lockDir(d.self)
	if err != nil {
		return nil, err
	}
	if held {
		return nil, &LockedError{Name: d.path, PID: d.holder(name)}
	}
	d.whole = can
	if err := regular(name, d.root.Lstat); err != nil {
		return nil, at(d.lock, err)
	}
	if d.file, err = d.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := claim(d.file, d.lock); err != nil {
		return nil, err
	}
	if d.fileID, err = identify(d.file); err != nil {
		return nil, err
	}
	// Another process may have replaced the directory in the meantime.
	return d, d.Check(nil, "")
}

// holder returns the id of the process that the lock file names, 0 if it names none.
func (d *osDir) holder(name string) int {
	if regular(name, d.root.Lstat) != nil {
		return 0
	}
	f, err := d.root.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	return readPID(f)
}

// Close releases the locks.
func (d *osDir) Close() error {
	var errs []error
	for _, f := range []*os.File{d.file, d.self} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if d.root != nil {
		errs = append(errs, d.root.Close())
	}
	return errors.Join(errs...)
}

// Check implements [Dir].
func (d *osDir) Check(f File, name string) error {
	id, path := d.id, d.path
	if file, ok := f.(osFile); ok {
		id, path = file.id, name
	}
	if ok, err := id.leadsTo(path); err != nil || !ok {
		return moved(path, err)
	}
	if !d.whole {
		if ok, err := d.fileID.leadsTo(d.lock); err != nil || !ok {
			return moved(d.lock, err)
		}
	}
	return nil
}

// moved returns err, or a *MovedError for path if err is nil.
func moved(path string, err error) error {
	if err != nil {
		return err
	}
	return &MovedError{Name: path}
}

// Shared implements [Dir]. It counts the hard links of the file.
func (d *osDir) Shared(name string) (bool, error) {
	base, ok := d.within(name)
	if !ok {
		return false, nil
	}
	info, err := d.root.Lstat(base)
	if err != nil {
		return false, at(name, err)
	}
	return links(info) > 1, nil
}

// within returns the name of a file without its directory, given the file's path. It reports false
// if the path is not directly in the directory.
func (d *osDir) within(name string) (base string, ok bool) {
	name = filepath.Clean(name)
	return filepath.Base(name), filepath.Dir(name) == d.path
}

// at replaces the name in a path error with the path of the file.
func at(name string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		p.Path = name
	}
	return err
}

// open opens a file of the directory. For a file that is not in the directory, it calls
// `elsewhere`.
func (d *osDir) open(name string, flag int, elsewhere func(string) (File, error)) (File, error) {
	base, ok := d.within(name)
	if !ok {
		return elsewhere(name)
	}
	if flag&os.O_EXCL == 0 {
		if err := regular(base, d.root.Lstat); err != nil {
			return nil, at(name, err)
		}
	}
	f, err := d.root.OpenFile(base, flag, 0o600)
	if err != nil {
		return nil, at(name, err)
	}
	if flag&os.O_RDWR != 0 && d.whole {
		switch held, err := lockFile(f); {
		case err != nil:
			f.Close()
			return nil, err
		case held:
			f.Close()
			return nil, &LockedError{Name: name}
		}
	}
	id, err := identify(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return osFile{f, id}, nil
}

// Create implements [FS].
func (d *osDir) Create(name string) (File, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, d.osFS.Create)
}

// Open implements [FS].
func (d *osDir) Open(name string) (File, error) { return d.open(name, os.O_RDONLY, d.osFS.Open) }

// OpenWrite implements [FS].
func (d *osDir) OpenWrite(name string) (File, error) {
	return d.open(name, os.O_RDWR, d.osFS.OpenWrite)
}

// Map implements [FS].
func (d *osDir) Map(name string) (*Mapping, error) {
	base, ok := d.within(name)
	if !ok {
		return d.osFS.Map(name)
	}
	if err := regular(base, d.root.Lstat); err != nil {
		return nil, at(name, err)
	}
	f, err := d.root.Open(base)
	if err != nil {
		return nil, at(name, err)
	}
	defer f.Close()
	return mapFile(f, name)
}

// Rename implements [FS].
func (d *osDir) Rename(oldName, newName string) error {
	from, ok := d.within(oldName)
	to, also := d.within(newName)
	if !ok || !also {
		return d.osFS.Rename(oldName, newName)
	}
	return d.root.Rename(from, to)
}

// Remove implements [FS].
func (d *osDir) Remove(name string) error {
	base, ok := d.within(name)
	if !ok {
		return d.osFS.Remove(name)
	}
	return at(name, d.root.Remove(base))
}

// List implements [FS].
func (d *osDir) List(dir string) ([]string, error) {
	if filepath.Clean(dir) != d.path {
		return d.osFS.List(dir)
	}
	f, err := d.root.Open(".")
	if err != nil {
		return nil, at(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, at(dir, err)
	}
	names := listed(entries)
	slices.Sort(names)
	return names, nil
}

// SyncDir implements [FS].
func (d *osDir) SyncDir(dir string) error {
	if filepath.Clean(dir) != d.path {
		return d.osFS.SyncDir(dir)
	}
	return syncOpenDir(d.self)
}
