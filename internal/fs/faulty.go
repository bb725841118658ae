package fs

import (
	"io"
	"path/filepath"
	"sync/atomic"
)

// OpKind is a kind of operation on a file system or file.
type OpKind uint8

// The kinds of operations.
const (
	OpCreate OpKind = iota
	OpOpen
	OpOpenWrite
	OpRename
	OpRemove
	OpList
	OpMkdirAll
	OpSyncDir
	OpLock
	OpRead
	OpWrite
	OpSync
	OpMap
)

// Op is one operation that is about to be carried out.
type Op struct {
	N    int // number of the operation on one Faulty, from 1
	Kind OpKind
	Name string // name of the file or directory; the old name for OpRename
	Len  int    // in bytes, for OpRead and OpWrite
}

// Fault is a failure of an operation.
type Fault struct {
	Err   error // returned to the caller
	Write int   // number of bytes that OpWrite writes before it fails
	Apply bool  // carry the operation out; only its result is lost

	// Lose makes a failing OpSync on a [Mem] lose the written data silently: reads still
	// return the data, and a later Sync succeeds without making it durable.
	Lose bool
}

// Faulty is a file system whose operations fail on demand.
type Faulty struct {
	base   FS
	inject func(Op) *Fault
	ops    *atomic.Int64
}

// NewFaulty returns a file system that passes operations to base. It calls inject before
// each operation, possibly concurrently; if inject returns a Fault, the operation fails,
// and if nil, it proceeds.
func NewFaulty(base FS, inject func(Op) *Fault) *Faulty {
	return &Faulty{base: base, inject: inject, ops: new(atomic.Int64)}
}

// Ops returns the number of operations so far.
func (s *Faulty) Ops() int { return int(s.ops.Load()) }

// Create implements [FS].
func (s *Faulty) Create(name string) (File, error) {
	return s.file(Op{Kind: OpCreate, Name: name}, s.base.Create)
}

// Open implements [FS].
func (s *Faulty) Open(name string) (File, error) {
	return s.file(Op{Kind: OpOpen, Name: name}, s.base.Open)
}

// Map implements [FS].
func (s *Faulty) Map(name string) (m *Mapping, err error) {
	err = s.do(Op{Kind: OpMap, Name: name}, func() error {
		m, err = s.base.Map(name)
		return err
	})
	return m, err
}

// OpenWrite implements [FS].
func (s *Faulty) OpenWrite(name string) (File, error) {
	return s.file(Op{Kind: OpOpenWrite, Name: name}, s.base.OpenWrite)
}

// Rename implements [FS].
func (s *Faulty) Rename(oldName, newName string) error {
	return s.do(Op{Kind: OpRename, Name: oldName}, func() error { return s.base.Rename(oldName, newName) })
}

// Remove implements [FS].
func (s *Faulty) Remove(name string) error {
	return s.do(Op{Kind: OpRemove, Name: name}, func() error { return s.base.Remove(name) })
}

// List implements [FS].
func (s *Faulty) List(dir string) (names []string, err error) {
	err = s.do(Op{Kind: OpList, Name: dir}, func() error {
		names, err = s.base.List(dir)
		return err
	})
	return names, err
}

// MkdirAll implements [FS].
func (s *Faulty) MkdirAll(dir string) error {
	return s.do(Op{Kind: OpMkdirAll, Name: dir}, func() error { return s.base.MkdirAll(dir) })
}

// SyncDir implements [FS].
func (s *Faulty) SyncDir(dir string) error {
	return s.do(Op{Kind: OpSyncDir, Name: dir}, func() error { return s.base.SyncDir(dir) })
}

// Lock implements [FS].
func (s *Faulty) Lock(name string) (lock io.Closer, err error) {
	fault := s.next(Op{Kind: OpLock, Name: name})
	if fault != nil {
		return nil, fault.Err
	}
	return s.base.Lock(name)
}

// LockDir implements [FS]. It counts as an OpLock of the lock file. Check and Shared of the
// Dir do not count as operations.
func (s *Faulty) LockDir(dir, name string) (Dir, error) {
	if fault := s.next(Op{Kind: OpLock, Name: filepath.Join(dir, name)}); fault != nil {
		return nil, fault.Err
	}
	d, err := s.base.LockDir(dir, name)
	if err != nil {
		return nil, err
	}
	return &faultyDir{Faulty: &Faulty{base: d, inject: s.inject, ops: s.ops}, dir: d}, nil
}

// faultyDir is a directory that a Faulty has locked.
type faultyDir struct {
	*Faulty
	dir Dir
}

func (d *faultyDir) Close() error { return d.dir.Close() }

func (d *faultyDir) Check(f File, name string) error {
	if faulty, ok := f.(*faultyFile); ok {
		f = faulty.File
	}
	return d.dir.Check(f, name)
}

func (d *faultyDir) Shared(name string) (bool, error) { return d.dir.Shared(name) }

func (s *Faulty) next(op Op) *Fault {
	op.N = int(s.ops.Add(1))
	return s.inject(op)
}

func (s *Faulty) do(op Op, f func() error) error {
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

func (s *Faulty) file(op Op, open func(string) (File, error)) (File, error) {
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
	return &faultyFile{File: f, fs: s, name: op.Name}, nil
}

type faultyFile struct {
	File
	fs   *Faulty
	name string
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if fault := f.fs.next(Op{Kind: OpRead, Name: f.name, Len: len(p)}); fault != nil {
		return 0, fault.Err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	fault := f.fs.next(Op{Kind: OpWrite, Name: f.name, Len: len(p)})
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

func (f *faultyFile) Sync() error {
	fault := f.fs.next(Op{Kind: OpSync, Name: f.name})
	if fault == nil {
		return f.File.Sync()
	}
	if m, ok := f.File.(*memFile); ok && fault.Lose {
		m.loseDirty()
		return fault.Err
	}
	if fault.Apply {
		_ = f.File.Sync()
	}
	return fault.Err
}
