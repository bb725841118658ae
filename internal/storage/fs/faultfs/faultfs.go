// Package faultfs injects faults into a file system, for tests of code that uses files.
package faultfs

import (
	"io"
	"path/filepath"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// OpKind is a kind of operation on a file system or file.
type OpKind uint8

// The kinds of operations.
const (
	OpCreate OpKind = iota
	OpOpen
	OpOpenWrite // opens an existing file for writing
	OpRename
	OpRemove
	OpList     // lists a directory
	OpMkdirAll // makes a directory and its parents
	OpSyncDir  // makes the changes of a directory durable
	OpLock     // acquires the lock of a lock file
	OpRead
	OpWrite
	OpSync // makes the content of a file durable
	OpMap  // maps a file into memory
)

// Op is one operation that is about to be carried out.
type Op struct {
	N    int // number of the operation on one FS, from 1
	Kind OpKind
	Name string // name of the file or directory; the old name for OpRename
	Len  int    // in bytes, for OpRead and OpWrite
}

// Fault is a failure of an operation.
type Fault struct {
	Err   error // returned to the caller
	Write int   // number of bytes that OpWrite writes before it fails
	Apply bool  // the operation is carried out, but Err is returned instead of its result

	// Lose makes a failing OpSync on a [fs.Mem] lose the written data silently: reads still
	// return the data, and a later Sync succeeds without making it durable.
	Lose bool
}

// FS is a file system with operations that fail on demand.
type FS struct {
	base   fs.FS           // performs the operations that do not fail
	inject func(Op) *Fault // returns the fault of an operation, or nil
	ops    *atomic.Int64   // number of operations so far
}

// New returns a file system that passes operations to the file system `base`. It calls the function
// `inject` before each operation, and may call it concurrently. If `inject` returns a Fault, the
// operation fails with that fault. If it returns nil, the operation proceeds.
func New(base fs.FS, inject func(Op) *Fault) *FS {
	return &FS{base: base, inject: inject, ops: new(atomic.Int64)}
}

// Ops returns the number of operations so far.
func (s *FS) Ops() int { return int(s.ops.Load()) }

// Create implements [fs.FS].
func (s *FS) Create(name string) (fs.File, error) {
	return s.file(Op{Kind: OpCreate, Name: name}, s.base.Create)
}

// Open implements [fs.FS].
func (s *FS) Open(name string) (fs.File, error) {
	return s.file(Op{Kind: OpOpen, Name: name}, s.base.Open)
}

// Map implements [fs.FS].
func (s *FS) Map(name string) (m *fs.Mapping, err error) {
	err = s.do(Op{Kind: OpMap, Name: name}, func() error {
		m, err = s.base.Map(name)
		return err
	})
	return m, err
}

// OpenWrite implements [fs.FS].
func (s *FS) OpenWrite(name string) (fs.File, error) {
	return s.file(Op{Kind: OpOpenWrite, Name: name}, s.base.OpenWrite)
}

// Rename implements [fs.FS].
func (s *FS) Rename(oldName, newName string) error {
	return s.do(Op{Kind: OpRename, Name: oldName}, func() error { return s.base.Rename(oldName, newName) })
}

// Remove implements [fs.FS].
func (s *FS) Remove(name string) error {
	return s.do(Op{Kind: OpRemove, Name: name}, func() error { return s.base.Remove(name) })
}

// List implements [fs.FS].
func (s *FS) List(dir string) (names []string, err error) {
	err = s.do(Op{Kind: OpList, Name: dir}, func() error {
		names, err = s.base.List(dir)
		return err
	})
	return names, err
}

// MkdirAll implements [fs.FS].
func (s *FS) MkdirAll(dir string) error {
	return s.do(Op{Kind: OpMkdirAll, Name: dir}, func() error { return s.base.MkdirAll(dir) })
}

// SyncDir implements [fs.FS].
func (s *FS) SyncDir(dir string) error {
	return s.do(Op{Kind: OpSyncDir, Name: dir}, func() error { return s.base.SyncDir(dir) })
}

// Lock implements [fs.FS].
func (s *FS) Lock(name string) (lock io.Closer, err error) {
	fault := s.next(Op{Kind: OpLock, Name: name})
	if fault != nil {
		return nil, fault.Err
	}
	return s.base.Lock(name)
}

// LockDir implements [fs.FS]. It counts as an OpLock of the lock file. Check and Shared of the
// Dir do not count as operations.
func (s *FS) LockDir(dir, name string) (fs.Dir, error) {
	if fault := s.next(Op{Kind: OpLock, Name: filepath.Join(dir, name)}); fault != nil {
		return nil, fault.Err
	}
	d, err := s.base.LockDir(dir, name)
	if err != nil {
		return nil, err
	}
	return &faultyDir{FS: &FS{base: d, inject: s.inject, ops: s.ops}, dir: d}, nil
}

// faultyDir is a directory that an [FS] has locked.
type faultyDir struct {
	*FS
	dir fs.Dir // the directory of base that is locked
}

// Close passes the call to the underlying directory, without a fault.
func (d *faultyDir) Close() error { return d.dir.Close() }

// Check passes the call to the underlying directory, without a fault.
func (d *faultyDir) Check(f fs.File, name string) error {
	if faulty, ok := f.(*faultyFile); ok {
		f = faulty.File
	}
	return d.dir.Check(f, name)
}

// Shared passes the call to the underlying directory, without a fault.
func (d *faultyDir) Shared(name string) (bool, error) { return d.dir.Shared(name) }

// next numbers an operation, and returns its fault, or nil.
func (s *FS) next(op Op) *Fault {
	op.N = int(s.ops.Add(1))
	return s.inject(op)
}

func (s *FS) do(op Op, f func() error) error {
	fault := s.next(op)
	if fault == nil {
		return f()
	}
	if fault.Apply {
		// The injected error is returned instead of an error of f.
		_ = f()
	}
	return fault.Err
}

// file opens a file with the function `open`, unless a fault prevents the operation. If Fault.Apply is set, it opens the
// file, which may create it, and closes it again.
func (s *FS) file(op Op, open func(string) (fs.File, error)) (fs.File, error) {
	fault := s.next(op)
	if fault != nil && !fault.Apply {
		return nil, fault.Err
	}
	f, err := open(op.Name)
	if err != nil {
		return nil, err
	}
	if fault != nil {
		f.Close()
		return nil, fault.Err
	}
	return &faultyFile{File: f, owner: s, name: op.Name}, nil
}

// faultyFile is an open file with operations that fail on demand.
type faultyFile struct {
	fs.File
	owner *FS    // decides which operations fail
	name  string // path for the Op
}

// ReadAt implements [fs.File].
func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if fault := f.owner.next(Op{Kind: OpRead, Name: f.name, Len: len(p)}); fault != nil {
		return 0, fault.Err
	}
	return f.File.ReadAt(p, off)
}

// WriteAt implements [fs.File].
func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	fault := f.owner.next(Op{Kind: OpWrite, Name: f.name, Len: len(p)})
	if fault == nil {
		return f.File.WriteAt(p, off)
	}
	part := p[:min(fault.Write, len(p))]
	if fault.Apply {
		part = p
	}
	n := 0
	if len(part) > 0 {
		n, _ = f.File.WriteAt(part, off)
	}
	return n, fault.Err
}

// Sync implements [fs.File].
func (f *faultyFile) Sync() error {
	fault := f.owner.next(Op{Kind: OpSync, Name: f.name})
	if fault == nil {
		return f.File.Sync()
	}
	if m, ok := f.File.(interface{ LoseWrites() }); ok && fault.Lose {
		m.LoseWrites()
		return fault.Err
	}
	if fault.Apply {
		_ = f.File.Sync()
	}
	return fault.Err
}
