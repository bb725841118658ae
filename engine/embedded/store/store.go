package store

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// Limits and defaults.
const (
	// MaxPayload is the longest payload of a record, in bytes. A commit of more than
	// some 64 KiB is better kept in segments that its record names.
	MaxPayload = 16 << 20

	// DefaultLogSize is the size of a log file, in bytes. An Open reads whole files.
	DefaultLogSize = 4 << 20

	// minLogSize holds the header of a log file and a page of frames.
	minLogSize = 2 * logHeaderSize
)

// Options say how a store is made and opened.
type Options struct {
	// LogSize is the size of new log files in bytes, 0 for DefaultLogSize. It is
	// rounded up to a multiple of 4096 and to no less than 8192. A record that does not
	// fit gets a larger file of its own.
	LogSize int64

	// Manifest is the payload of the manifest that Create writes.
	Manifest []byte

	// Failed, if set, is called once when a write or sync of the log fails: nothing can be
	// written from then on until the store is opened again. It must not call the store.
	Failed func(error)

	salt func() uint64 // nil for one at random
}

// Record is one record of the log.
type Record struct {
	LSN     uint64 // log sequence number, dense, from 1
	Kind    uint8  // the caller's
	Payload []byte
}

// Recovered is what Open found.
type Recovered struct {
	Manifest    []byte      // the payload of the manifest in force, nil if it is empty
	ManifestLSN uint64      // the records up to this are in the manifest
	Segments    []SegmentID // what the manifest names, in order
	Records     []Record    // the records after ManifestLSN, in order, all durable; they keep whole log files in memory
}

// Store is one graph's directory, open. Its methods may be called concurrently, Close
// after all others.
type Store struct {
	fsys fs.FS
	dir  string
	lock fs.Dir // also fsys
	log  *wal

	checkpointing sync.Mutex // held by Checkpoint

	mu          sync.Mutex
	manifest    manifest // in force, without payload
	manifests   []uint64 // that may be there, in order
	segments    map[SegmentID]*segmentState
	nextSegment SegmentID
	recovered   uint64        // LSN of the last record at Open
	end         uint64        // LSN that END names
	hasEnd      bool          // there is an END
	fullSignal  chan struct{} // capacity 1: full was set
	full        error         // that a write was refused with for space; nil if none was since
	closed      bool
}

// Create makes a store in dir, which must not hold one (*engine.Conflict). It is durable
// when Create returns; a Create that was cut short can be repeated.
func Create(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, unavailable("making the directory", err)
	}
	s, err := lockStore(fsys, dir, opts)
	if err != nil {
		return nil, err
	}
	if err := s.create(opts); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// Open opens the store in dir and returns what it holds. It fails with an
// *engine.NotFound when dir holds no store, an *engine.Unavailable naming the process
// that has it open, or an *engine.Corrupt.
func Open(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Store, *Recovered, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	// Looked up before locking, so as not to leave a lock file in a directory that has
	// nothing to do with a store.
	switch names, err := fsys.List(dir); {
	case errors.Is(err, iofs.ErrNotExist):
		return nil, nil, &engine.NotFound{What: "graph directory", Name: dir}
	case err != nil:
		return nil, nil, unavailable("listing the directory", err)
	case len(classify(names).manifests) == 0:
		return nil, nil, &engine.NotFound{What: "graph in directory", Name: dir}
	}
	s, err := lockStore(fsys, dir, opts)
	if err != nil {
		return nil, nil, err
	}
	rec, err := s.recover(ctx)
	if err != nil {
		s.release()
		return nil, nil, err
	}
	return s, rec, nil
}

// Reserve makes room in the log for a record with a payload of n bytes. It need not be
// called: it spares the next Enqueue to make a file, which takes some milliseconds. The
// error is an *engine.Unavailable and leaves the log as it was.
func (s *Store) Reserve(n int) error {
	err := s.log.reserve(n)
	s.noteFull(err)
	return err
}

// Append writes a record and returns its number when it is durable. Callers that wait
// at the same time share one write and one sync. The segments are those that the
// record is the first to name; see [Store.Enqueue].
//
// The context is heeded until the record has its number: from then on its outcome
// would be unknown to a caller that went away, so the wait is not cut short. For errors
// see [Store.Wait].
func (s *Store) Append(ctx context.Context, kind uint8, payload []byte, segments ...SegmentID) (lsn uint64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t, err := s.Enqueue(kind, payload, segments...)
	if err != nil {
		return 0, err
	}
	return t.LSN, s.Wait(t)
}

// Enqueue gives a record its place in the log, which is in the order of the calls, and
// returns without waiting; Wait writes it. The payload must not change until Wait
// returns. Each record must be waited for, once; Close writes those that were not.
//
// The segments are those that the record is the first to name. Once a checkpoint covers
// the record and does not name them, they are removed; a segment that was declared by no
// record is kept until a checkpoint after the next Open.
//
// The error is an *engine.TooLarge, or an *engine.Unavailable when the log has failed or
// is closed, or when the disk has no room for the record; then nothing has changed.
func (s *Store) Enqueue(kind uint8, payload []byte, segments ...SegmentID) (*Ticket, error) {
	t, err := s.log.enqueue(kind, payload)
	if err != nil {
		s.noteFull(err)
		return nil, err
	}
	if len(segments) > 0 {
		s.mu.Lock()
		for _, id := range segments {
			if state := s.segments[id]; state != nil && state.named == 0 {
				state.named = t.LSN
			}
		}
		s.mu.Unlock()
	}
	return t, nil
}

// Wait returns when a record is durable, or has failed. A write or sync that fails makes
// the log unusable until the store is opened again: the records in it get an
// *engine.Indeterminate, since they may be found then. Every other record gets an
// *engine.Unavailable, since it was not written; so do the records of a write that was
// refused for space and cleared away.
func (s *Store) Wait(t *Ticket) error { return s.log.wait(t) }

// Durable returns the number of the last durable record, 0 if there is none.
func (s *Store) Durable() uint64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.durable
}

// Close writes what is enqueued, notes the last record in END, and unlocks the directory.
// Segments stay readable. The error is that of the last write, if there was one to do. A
// note that cannot be written is no error: damage to the records after the last note is
// then taken for a torn write.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	err := s.log.close()
	if durable, ok := s.log.sound(); ok && s.displaced() == nil {
		_ = s.noteEnd(durable)
	}
	return errors.Join(err, s.release())
}

func lockStore(fsys fs.FS, dir string, opts Options) (*Store, error) {
	lock, err := fsys.LockDir(dir, lockName)
	var held *fs.LockedError
	switch {
	case errors.As(err, &held):
		return nil, &engine.Unavailable{Reason: held.Error() + ", only one may have a graph open"}
	case errors.Is(err, iofs.ErrNotExist):
		return nil, &engine.NotFound{What: "graph directory", Name: dir}
	case err != nil:
		return nil, unavailable("locking the directory", err)
	}
	size := opts.LogSize
	if size <= 0 {
		size = DefaultLogSize
	}
	salt := opts.salt
	if salt == nil {
		salt = randomSalt
	}
	log := newWAL(lock, dir, max(minLogSize, pad(size, logHeaderSize)), salt)
	log.onFailed = opts.Failed
	return &Store{
		fsys:        lock,
		dir:         dir,
		lock:        lock,
		log:         log,
		fullSignal:  make(chan struct{}, 1),
		segments:    map[SegmentID]*segmentState{},
		nextSegment: 1,
	}, nil
}

// create makes the first log file and then the first manifest, which makes it a store.
func (s *Store) create(opts Options) error {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return unavailable("listing the directory", err)
	}
	found := classify(names)
	switch {
	case len(found.manifests) > 0:
		return &engine.Conflict{Reason: fmt.Sprintf("directory %s holds a graph already", s.dir)}
	case len(found.segments) > 0 || len(found.logs) > 0 && found.logs[0] != 1 || len(found.logs) > 1:
		return &engine.Corrupt{Object: s.dir, Detail: "it holds the files of a graph, but no manifest; move them away to make another"}
	}
	for _, name := range found.temps {
		if err := s.fsys.Remove(filepath.Join(s.dir, name)); err != nil {
			return unavailable("removing what an earlier attempt left", err)
		}
	}
	if len(found.logs) > 0 {
		// A Create that was cut short left a log without records; any other is not
		// for this one to remove.
		name := filename(s.dir, 1, logExt)
		_, scan, err := readLog(s.fsys, s.dir, 1)
		if err != nil {
			return err
		}
		if len(scan.records) > 0 {
			return &engine.Corrupt{Object: s.dir, Detail: fmt.Sprintf("%s has records, but there is no manifest; move it away to make another graph", name)}
		}
		if err := s.fsys.Remove(name); err != nil {
			return unavailable("removing what an earlier attempt left", err)
		}
	}
	if err := s.log.begin(); err != nil {
		return err
	}
	if err := s.noteEnd(0); err != nil {
		return err
	}
	return s.install(manifest{number: 1, next: s.nextSegment, payload: opts.Manifest})
}

// release lets go of what is open, for a store that is closed or was never handed out.
func (s *Store) release() error {
	err := s.log.closeFile()
	return errors.Join(err, s.lock.Close())
}

// displaced returns an error when the path of the store leads to another directory than
// the one that is open: what is written would not be found there.
func (s *Store) displaced() error {
	if err := s.lock.Check(nil, ""); err != nil {
		return unavailable("its folder cannot be written safely", err)
	}
	return nil
}

// unavailable says that the file system failed. Both the *engine.Unavailable and the
// cause can be found in it.
func unavailable(doing string, cause error) error {
	return fmt.Errorf("%w: %w", &engine.Unavailable{Reason: doing}, cause)
}
