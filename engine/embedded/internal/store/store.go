package store

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Limits and defaults.
const (
	// MaxPayload is the maximum length of a record's payload, in bytes. A commit of more
	// than about 64 KiB is better stored in segments that its record lists.
	MaxPayload = 16 << 20

	// DefaultLogSize is the default size of a log file, in bytes. Open reads whole log
	// files.
	DefaultLogSize = 4 << 20

	// minLogSize is the minimum size of a log file: its header and one page of frames.
	minLogSize = 2 * logHeaderSize
)

// Options configure Create and Open.
type Options struct {
	// LogSize is the size of new log files in bytes, 0 for DefaultLogSize. It is rounded up
	// to a multiple of 4096, and is at least 8192. A record that does not fit gets a larger
	// file of its own.
	LogSize int64

	// Manifest is the payload of the manifest that Create writes.
	Manifest []byte

	// Failed, if set, is called once when a write or sync of the log fails. From then on
	// the store accepts no writes until it is opened again. Failed must not call the store.
	Failed func(error)

	salt func() uint64 // nil for random salts
}

// Record is one record of the log.
type Record struct {
	LSN     uint64 // log sequence number, dense, from 1
	Kind    uint8  // defined by the caller
	Payload []byte // content of the record, defined by the caller
}

// Recovered is the state that Open found.
type Recovered struct {
	Manifest    []byte      // payload of the manifest in force, nil if it is empty
	ManifestLSN uint64      // LSN of the last record that the manifest contains
	Segments    []SegmentID // the segments that the manifest names, in order
	Records     []Record    // durable, after ManifestLSN, in order; they hold entire log files in RAM
	Hold        *Hold       // for shared storage: the user of the segments keeps it
}

// Store is the open directory of one graph. Its methods may be called concurrently, but
// Close only after all other calls have returned.
type Store struct {
	fsys fs.FS  // file system of the directory
	dir  string // path of the directory
	lock fs.Dir // the lock on the directory; fsys is the same value
	log  *wal   // the write-ahead log

	checkpointing sync.Mutex // held by Checkpoint

	mu          sync.Mutex
	manifest    manifest                    // the manifest in force, without its payload
	manifests   []uint64                    // numbers of the manifests that may exist, in order
	segments    map[SegmentID]*segmentState // by id: the segments that exist
	nextSegment SegmentID                   // id of the next segment
	recovered   uint64                      // LSN of the last record at Open
	end         uint64                      // LSN that END names
	hasEnd      bool                        // whether the file END exists
	fullSignal  chan struct{}               // capacity 1; signals that full was set
	full        error                       // why a write was refused for space; nil once Retry succeeded
	closed      bool                        // Close was called
}

// Create makes a store in dir. The error is an *engine.Conflict if dir already holds one.
// The store is durable when Create returns. An interrupted Create can be repeated.
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

// Open opens the store in dir and returns its content. The error is an *engine.NotFound if dir
// contains no store, an *engine.Unavailable that identifies the process if a process has the store
// open, or an *engine.Corrupt.
func Open(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Store, *Recovered, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	// Check before locking, so that no lock file is created in a directory that contains no store.
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

// Reserve makes room in the log for a record with a payload of n bytes. A call of Reserve is
// optional: after it, the next Enqueue need not create a file, which takes a few milliseconds. Any
// error is an *engine.Unavailable; the log is then unchanged.
func (s *Store) Reserve(n int) error {
	err := s.log.reserve(n)
	s.noteFull(err)
	return err
}

// Append writes a record and returns its LSN once the record is durable. Callers that wait at the
// same time share one write and one sync. The argument `segments` lists the segments to which this
// record is the first to refer; see [Store.Enqueue].
//
// Append honours the context only until the record has its LSN. After that it does not stop
// waiting, because the caller would not learn whether the record is durable. For errors see
// [Store.Wait].
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

// Enqueue assigns a record its place in the log and returns without waiting. The records in the log
// are in the order of the calls. Wait writes the record. The payload must not change until Wait
// returns. The caller must call Wait exactly once for each record; Close writes the records for
// which Wait was not called.
//
// The argument `segments` lists the segments to which this record is the first to refer. They are
// removed by the first checkpoint that covers the record and does not list them. A segment that was
// never an argument of Enqueue is kept until a checkpoint after the next Open.
//
// The error is an *engine.TooLarge, or an *engine.Unavailable if the log has failed or is closed,
// or if the disk has no room for the record. After an error nothing has changed.
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

// Wait returns when a record is durable or has failed. After a failed write or sync, the
// log is unusable until the store is opened again. The records of that write get an
// *engine.Indeterminate, since the next Open may find them. Every other record gets an
// *engine.Unavailable, since it was not written. The records of a write that was refused
// for lack of space and then cleared also get an *engine.Unavailable.
func (s *Store) Wait(t *Ticket) error { return s.log.wait(t) }

// Durable returns the LSN of the last durable record, 0 if there is none.
func (s *Store) Durable() uint64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.durable
}

// Close writes the queued records, records the last LSN in END, and unlocks the directory.
// Segments stay readable. Close returns the error of the last write, if that failed. It returns no
// error if only END cannot be written. The next Open then treats corruption in records after the
// record in END as a torn write.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	err := s.log.close()
	if durable, ok := s.log.lastDurable(); ok && s.checkMoved() == nil {
		_ = s.noteEnd(durable)
	}
	return errors.Join(err, s.release())
}

// lockStore returns an empty store after it has locked the directory.
func lockStore(fsys fs.FS, dir string, opts Options) (*Store, error) {
	lock, err := fsys.LockDir(dir, lockName)
	var held *fs.LockedError
	switch {
	case errors.As(err, &held):
		return nil, &engine.Unavailable{Reason: held.Error() + "; only one process may have a graph open"}
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

// create makes the first log file and then the first manifest. The manifest turns the
// directory into a store.
func (s *Store) create(opts Options) error {
	if err := s.clear(); err != nil {
		return err
	}
	if err := s.log.begin(); err != nil {
		return err
	}
	if err := s.noteEnd(0); err != nil {
		return err
	}
	return s.install(manifest{number: 1, next: s.nextSegment, payload: opts.Manifest})
}

// clear removes the files that an interrupted create left. It returns an error if the directory
// holds a store, or files of a store that a create cannot have left.
func (s *Store) clear() error {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return unavailable("listing the directory", err)
	}
	found := classify(names)
	switch {
	case len(found.manifests) > 0:
		return &engine.Conflict{Reason: fmt.Sprintf("directory %s already holds a graph", s.dir)}
	case len(found.segments) > 0 || len(found.logs) > 0 && found.logs[0] != 1 || len(found.logs) > 1:
		return &engine.Corrupt{Object: s.dir, Detail: "the folder holds files of a graph, but no manifest; move the files away before you create a graph here"}
	}
	for _, name := range found.temps {
		if err := s.fsys.Remove(filepath.Join(s.dir, name)); err != nil {
			return unavailable("removing files that an earlier attempt left", err)
		}
	}
	if len(found.logs) > 0 {
		// An interrupted Create leaves a log without records. This Create must not remove
		// any other log.
		name := filename(s.dir, 1, logExt)
		_, scan, err := readLog(s.fsys, s.dir, 1)
		if err != nil {
			return err
		}
		if len(scan.records) > 0 {
			return &engine.Corrupt{Object: s.dir, Detail: fmt.Sprintf("%s has records, but there is no manifest; move the file away before you create a graph here", name)}
		}
		if err := s.fsys.Remove(name); err != nil {
			return unavailable("removing files that an earlier attempt left", err)
		}
	}
	return nil
}

// release closes the files and the lock of a store that is closed or was never returned to
// the caller.
func (s *Store) release() error {
	err := s.log.closeFile()
	return errors.Join(err, s.lock.Close())
}

// checkMoved returns an error when the store's path leads to another directory than the open
// one, because an Open would not find the files written here.
func (s *Store) checkMoved() error {
	if err := s.lock.Check(nil, ""); err != nil {
		return unavailable("the folder of the graph cannot be written safely", err)
	}
	return nil
}

// retryWait is how long a caller should wait before it repeats a call that failed because of the storage.
// A server opens the graph again by itself.
const retryWait = time.Second

// unavailable returns an error for a failure of the file system or of the shared storage. errors.As
// finds both the *engine.Unavailable and the cause in it.
func unavailable(doing string, cause error) error {
	return fmt.Errorf("%w: %w", &engine.Unavailable{Reason: doing, RetryAfter: retryWait}, cause)
}
