package fs

import (
	iofs "io/fs"
	"os"
)

// Linker is a file system in which a file can have two names.
type Linker interface {
	FS

	// Link gives an existing file a second name in the same directory. It fails if the second name
	// already exists, even if another process creates that name at the same time. The second name
	// is durable after the next SyncDir of the directory.
	Link(oldName, newName string) error
}

// Link implements [Linker].
func (osFS) Link(oldName, newName string) error { return os.Link(oldName, newName) }

// Link implements [Linker]. A crash may lose either name. The Shared method of a locked directory
// does not report files with two names.
func (m *Mem) Link(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, oldBase, err := m.parent("link", oldName)
	if err != nil {
		return err
	}
	d2, newBase, err := m.parent("link", newName)
	if err != nil {
		return err
	}
	f := d.names[oldBase]
	switch {
	case f == nil:
		return &iofs.PathError{Op: "link", Path: oldName, Err: iofs.ErrNotExist}
	case d != d2:
		return &iofs.PathError{Op: "link", Path: newName, Err: iofs.ErrInvalid}
	case d.names[newBase] != nil:
		return &iofs.PathError{Op: "link", Path: newName, Err: iofs.ErrExist}
	}
	if err := m.durableOp(); err != nil {
		return err
	}
	d.apply(change{add: newBase, file: f})
	return nil
}
