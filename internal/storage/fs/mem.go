package fs

import (
	"errors"
	"io"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrCrashed is the error of every operation of a [Mem] after its simulated crash.
var ErrCrashed = errors.New("the simulated power is off")

// Mem is a file system in memory. For each file and directory it keeps the state that a
// power failure would leave; see [Mem.Crash].
type Mem struct {
	mu    sync.Mutex
	dirs  map[string]*memDir // by cleaned path
	locks map[string]bool    // paths of the locks that are held
	ops   int                // number of durable operations so far
	limit int                // number of durable operations before the crash, -1 for no crash

	poison   bool         // see PoisonMappings
	poisoned atomic.Int64 // number of mappings that were overwritten
}

// memDir is a directory: the current names, the durable names, and the pending changes
// that lead from the durable names to the current ones.
type memDir struct {
	names, durable map[string]*inode // file name to content, now and durable
	pending        []change          // in the order in which they were made
}

// change is one change of a directory. After a crash it is either complete or undone. The fields
// `remove` and `add` may be empty.
type change struct {
	remove string // name to remove
	add    string // name to add
	file   *inode // the file that gets the name in `add`
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	return &Mem{dirs: map[string]*memDir{}, locks: map[string]bool{}, limit: -1}
}

// Create implements [FS].
func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent("create", name)
	if err != nil {
		return nil, err
	}
	if d.names[base] != nil {
		return nil, &iofs.PathError{Op: "create", Path: name, Err: iofs.ErrExist}
	}
	if err := m.durableOp(); err != nil {
		return nil, err
	}
	f := &inode{dirty: map[int]struct{}{}}
	d.apply(change{add: base, file: f})
	return &memFile{fs: m, node: f, name: name, writable: true}, nil
}

// Open implements [FS].
func (m *Mem) Open(name string) (File, error) { return m.open(name, false) }

// Map implements [FS]. The mapping is a copy; see [Mem.PoisonMappings].
func (m *Mem) Map(name string) (*Mapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent("map", name)
	if err != nil {
		return nil, err
	}
	f := d.names[base]
	if f == nil {
		return nil, &iofs.PathError{Op: "map", Path: name, Err: iofs.ErrNotExist}
	}
	data := aligned(int(f.size))
	if len(data) > 0 {
		if _, err := f.readAt(data, 0); err != nil {
			return nil, err
		}
	}
	mapping := &Mapping{data: data}
	if m.poison {
		runtime.AddCleanup(mapping, func(data []byte) {
			for i := range data {
				data[i] = 0xDB
			}
			m.poisoned.Add(1)
		}, data)
	}
	return mapping, nil
}

// PoisonMappings makes later mappings overwrite their memory when they become unreachable,
// at the moment when the operating system would unmap it. A reader that still uses the
// memory then sees wrong data.
func (m *Mem) PoisonMappings() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.poison = true
}

// Poisoned returns the number of mappings that were released and overwritten.
func (m *Mem) Poisoned() int { return int(m.poisoned.Load()) }

// OpenWrite implements [FS].
func (m *Mem) OpenWrite(name string) (File, error) { return m.open(name, true) }

// Rename implements [FS].
func (m *Mem) Rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, oldBase, err := m.parent("rename", oldName)
	if err != nil {
		return err
	}
	d2, newBase, err := m.parent("rename", newName)
	if err != nil {
		return err
	}
	f := d.names[oldBase]
	if f == nil {
		return &iofs.PathError{Op: "rename", Path: oldName, Err: iofs.ErrNotExist}
	}
	if d != d2 {
		return &iofs.PathError{Op: "rename", Path: newName, Err: iofs.ErrInvalid}
	}
	if err := m.durableOp(); err != nil {
		return err
	}
	d.apply(change{remove: oldBase, add: newBase, file: f})
	return nil
}

// Remove implements [FS].
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent("remove", name)
	if err != nil {
		return err
	}
	if d.names[base] == nil {
		return &iofs.PathError{Op: "remove", Path: name, Err: iofs.ErrNotExist}
	}
	if err := m.durableOp(); err != nil {
		return err
	}
	d.apply(change{remove: base})
	return nil
}

// List implements [FS]. It leaves out directories within dir.
func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.alive(); err != nil {
		return nil, err
	}
	d := m.dirs[filepath.Clean(dir)]
	if d == nil {
		return nil, &iofs.PathError{Op: "list", Path: dir, Err: iofs.ErrNotExist}
	}
	return slices.Sorted(maps.Keys(d.names)), nil
}

// MkdirAll implements [FS].
func (m *Mem) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.durableOp(); err != nil {
		return err
	}
	for dir = filepath.Clean(dir); m.dirs[dir] == nil; dir = filepath.Dir(dir) {
		m.dirs[dir] = &memDir{names: map[string]*inode{}, durable: map[string]*inode{}}
	}
	return nil
}

// SyncDir implements [FS].
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dirs[filepath.Clean(dir)]
	if d == nil {
		return &iofs.PathError{Op: "sync", Path: dir, Err: iofs.ErrNotExist}
	}
	if err := m.durableOp(); err != nil {
		return err
	}
	d.durable = maps.Clone(d.names)
	d.pending = nil
	return nil
}

// Lock implements [FS]. List does not show the lock file.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, _, err := m.parent("lock", name); err != nil {
		return nil, err
	}
	name = filepath.Clean(name)
	if m.locks[name] {
		return nil, &LockedError{Name: name, PID: os.Getpid()}
	}
	m.locks[name] = true
	return &memLock{fs: m, name: name}, nil
}

// LockDir implements [FS]. The directories of a Mem are never renamed, and no file has two
// names.
func (m *Mem) LockDir(dir, name string) (Dir, error) {
	lock, err := m.Lock(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return &lockedMem{Mem: m, Closer: lock}, nil
}

// lockedMem is a locked directory of a Mem. Its file names cannot be replaced from outside the Mem,
// so its checks always succeed.
type lockedMem struct {
	*Mem
	io.Closer
}

// Check implements [Dir].
func (*lockedMem) Check(File, string) error { return nil }

// Shared implements [Dir].
func (*lockedMem) Shared(string) (bool, error) { return false, nil }

// open opens an existing file.
func (m *Mem) open(name string, writable bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent("open", name)
	if err != nil {
		return nil, err
	}
	f := d.names[base]
	if f == nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	}
	return &memFile{fs: m, node: f, name: name, writable: writable}, nil
}

// parent returns the directory of name, and the last element of name.
func (m *Mem) parent(op, name string) (*memDir, string, error) {
	if err := m.alive(); err != nil {
		return nil, "", err
	}
	d := m.dirs[filepath.Dir(filepath.Clean(name))]
	if d == nil {
		return nil, "", &iofs.PathError{Op: op, Path: name, Err: iofs.ErrNotExist}
	}
	return d, filepath.Base(name), nil
}

// alive returns ErrCrashed after the simulated crash. The caller holds mu.
func (m *Mem) alive() error {
	if m.limit >= 0 && m.ops >= m.limit {
		return ErrCrashed
	}
	return nil
}

// durableOp counts an operation that changes the state that a crash would leave.
func (m *Mem) durableOp() error {
	if err := m.alive(); err != nil {
		return err
	}
	m.ops++
	return nil
}

// apply makes a change to the current names, which is durable only after a sync.
func (d *memDir) apply(c change) {
	c.applyTo(d.names)
	d.pending = append(d.pending, c)
}

// applyTo makes the change to a map of names.
func (c change) applyTo(names map[string]*inode) {
	if c.remove != "" {
		delete(names, c.remove)
	}
	if c.add != "" {
		names[c.add] = c.file
	}
}

// memLock is a held lock of a Mem. Close releases it.
type memLock struct {
	fs   *Mem
	name string    // key in Mem.locks
	once sync.Once // releases the lock only once
}

// Close releases the lock.
func (l *memLock) Close() error {
	l.once.Do(func() {
		l.fs.mu.Lock()
		delete(l.fs.locks, l.name)
		l.fs.mu.Unlock()
	})
	return nil
}
