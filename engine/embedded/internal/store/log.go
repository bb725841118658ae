package store

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

const (
	// maxWrite bounds one write to the log, in bytes, unless a single record is longer.
	maxWrite = 4 << 20

	// keepBuffer is the largest write buffer that is kept for the next write.
	keepBuffer = 1 << 20
)

// Ticket is a record that has its place in the log but is not written yet.
type Ticket struct {
	LSN uint64 // log sequence number of the record

	kind    uint8     // kind of the record; see Record
	crc     uint32    // checksum of the payload
	payload []byte    // content of the record
	file    *nextFile // the log file that the record begins; nil if it continues the current file

	// Guarded by wal.mu.
	waiting bool
	done    bool          // whether the record is durable, or err is set
	err     error         // why the record was not written
	wake    chan struct{} // capacity 1; signalled when the ticket is done or should lead the next write

	shared *sharedlog.Ticket // place of the record in a shared log; nil in the log of a folder
}

// wal is the log. It has no goroutine: at any time, one of the waiting callers is the leader, which
// writes and syncs the records that all callers have enqueued.
type wal struct {
	fsys     fs.Dir        // file system with the lock on the directory
	dir      string        // path of the directory
	size     int64         // size of a log file in bytes
	salt     func() uint64 // returns the salt of a new log file
	onFailed func(error)   // called once, when a write fails; may be nil

	preparing sync.Mutex // held while a spare file is made; locked before mu

	mu      sync.Mutex
	idle    sync.Cond // signalled when a leader steps down
	leading bool      // whether one of the callers is the leader
	closed  bool      // close was called
	failed  error     // if set, why the log refuses writes until the next Open
	queue   []*Ticket // records that are not in a batch yet
	next    uint64    // LSN of the next record
	durable uint64    // LSN of the last durable record
	files   []logFile // the last one is active
	offset  int64     // offset of the next frame in the active file; only the leader changes it
	free    []uint64  // numbers of the free files, all of them of the full size
	spare   *nextFile // made in advance; nil if there is none

	// Where the next record will go once the queue is written: the number of the last file,
	// and the bytes that remain in it.
	plannedFile  uint64
	plannedBytes int64 // see plannedFile

	// Used by the leader only.
	active fs.File
	path   string    // path of the active file
	seed   uint32    // of the active file; see logHeader.seed
	buf    []byte    // memory for the frames of one write
	batch  []*Ticket // the records of the current write
}

// logFile is one file of the log.
type logFile struct {
	number uint64 // number in the name of the file
	first  uint64 // LSN of its first record
	size   int64  // in bytes
}

// newWAL returns a log without files. Log files have `size` bytes; `salt` returns their salts.
func newWAL(fsys fs.Dir, dir string, size int64, salt func() uint64) *wal {
	l := &wal{fsys: fsys, dir: dir, size: size, salt: salt, next: 1}
	l.idle.L = &l.mu
	return l
}

// enqueue reserves a place for a record in a file that exists, so that writing the record later
// needs no more disk space. If enqueue fails, the log is unchanged.
func (l *wal) enqueue(kind uint8, payload []byte) (*Ticket, error) {
	if len(payload) > MaxPayload {
		return nil, &engine.TooLarge{Resource: "bytes of a log record", Limit: MaxPayload, Actual: int64(len(payload))}
	}
	t := &Ticket{kind: kind, payload: payload, crc: payloadChecksum(payload), wake: make(chan struct{}, 1)}
	size := frameSize(len(payload))
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.closed:
			return nil, &engine.Unavailable{Reason: "it is closed"}
		case l.failed != nil:
			return nil, l.notWritten()
		}
		if size <= l.plannedBytes {
			break
		}
		if t.file = l.nextFileLocked(size); t.file != nil {
			l.plannedFile++
			l.plannedBytes = t.file.size - logHeaderSize
			break
		}
		l.mu.Unlock()
		err := l.prepare(size)
		l.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	l.plannedBytes -= size
	t.LSN = l.next
	l.next++
	l.queue = append(l.queue, t)
	return t, nil
}

// wait waits until a ticket's record is durable or failed. It may lead a write meanwhile.
func (l *wal) wait(t *Ticket) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !t.done {
		if !l.leading {
			l.leadWrite()
			continue
		}
		t.waiting = true
		l.mu.Unlock()
		<-t.wake
		l.mu.Lock()
		t.waiting = false
	}
	// The caller that has waited longest becomes the next leader; otherwise the queue would
	// not be written.
	if !l.leading {
		if i := slices.IndexFunc(l.queue, func(t *Ticket) bool { return t.waiting }); i >= 0 {
			l.queue[i].signal()
		}
	}
	return t.err
}

// leadWrite performs one write. mu is held on entry and on return; leadWrite unlocks it in between.
func (l *wal) leadWrite() {
	l.leading = true
	l.mu.Unlock()
	// Let the callers that the last write woke enqueue their next records: this short wait makes
	// the write larger.
	runtime.Gosched()
	l.mu.Lock()
	l.writeBatch()
	l.leading = false
	l.idle.Broadcast()
}

// writeBatch writes as much of the queue as fits into one write, and finishes those tickets.
// REQUIRES: mu is locked.
func (l *wal) writeBatch() {
	if len(l.queue) == 0 {
		return
	}
	if first := l.queue[0]; first.file != nil {
		l.mu.Unlock()
		err := l.rotate(first.file, first.LSN)
		l.mu.Lock()
		if err != nil {
			l.fail(err)
			return
		}
	}
	l.take()
	l.mu.Unlock()
	written, err := l.write()
	l.mu.Lock()
	if err == nil {
		l.offset += written
		l.durable = l.batch[len(l.batch)-1].LSN
	} else {
		l.failed = err
	}
	for _, t := range l.batch {
		var refused *refusedError
		switch {
		case errors.As(err, &refused):
			t.err = l.notWritten()
		case err != nil:
			t.err = &engine.Indeterminate{Err: err}
		}
		t.finish()
	}
	clear(l.batch)
	if err != nil {
		l.fail(err)
	}
}

// take moves the records of the next write from the queue to the batch: at least one, and then as
// many as go into the same file and fit into maxWrite. REQUIRES: mu is locked.
func (l *wal) take() {
	n, total := 0, int64(0)
	for _, t := range l.queue {
		size := frameSize(len(t.payload))
		if n > 0 && (t.file != nil || total+size > maxWrite) {
			break
		}
		n, total = n+1, total+size
	}
	l.batch = append(l.batch[:0], l.queue[:n]...)
	l.queue = slices.Delete(l.queue, 0, n)
}

// refusedError is the cause of a write that left the log on disk unchanged.
type refusedError struct{ error }

// Unwrap returns the error of the write.
func (e *refusedError) Unwrap() error { return e.error }

// write appends the batch to the durable records, and returns the number of bytes. The
// error is a *refusedError if the next Open will find no record of the batch.
//
// It checks twice that an Open would find the file at its path. The check before the write
// avoids writing records that must not be acknowledged. The check after the sync is
// necessary because a copy of the directory may have taken its place in the meantime: only
// a copy made after the sync is sure to have the records too.
func (l *wal) write() (int64, error) {
	buf := l.buf[:0]
	for i, t := range l.batch {
		buf = appendFrame(buf, frameHeader{
			kind: t.kind, lsn: t.LSN, length: uint32(len(t.payload)),
			position: uint32(i + 1), payloadCRC: t.crc,
		}, l.seed, t.payload)
	}
	if l.buf = buf; cap(buf) > keepBuffer {
		l.buf = nil
	}
	if err := l.fsys.Check(l.active, l.path); err != nil {
		return 0, &refusedError{err}
	}
	if _, err := l.active.WriteAt(buf, l.offset); err != nil {
		err = fmt.Errorf("writing the log: %w", err)
		if fs.IsNoSpace(err) && l.clearTail(len(buf)) == nil {
			err = &refusedError{err}
		}
		return 0, err
	}
	if err := l.active.Sync(); err != nil {
		return 0, fmt.Errorf("syncing the log: %w", err)
	}
	if err := l.fsys.Check(l.active, l.path); err != nil {
		return 0, err
	}
	return int64(len(buf)), nil
}

// clearTail overwrites with zeros the n bytes after the durable records, where a write
// failed part way.
func (l *wal) clearTail(n int) error {
	if _, err := l.active.WriteAt(make([]byte, n), l.offset); err != nil {
		return err
	}
	return l.active.Sync()
}

// fail makes the log unusable, and finishes the queued records with an error. It unlocks mu while
// it calls onFailed. REQUIRES: mu is locked, and the caller is the leader.
func (l *wal) fail(err error) {
	l.failed = err
	for _, t := range l.queue {
		t.err = l.notWritten()
		t.finish()
		t.file.discard(l)
	}
	l.queue = nil
	if l.onFailed != nil {
		l.mu.Unlock()
		l.onFailed(l.notWritten())
		l.mu.Lock()
	}
}

// notWritten returns the error for records that come after the failure. REQUIRES: mu is locked, or
// the field `failed` is set and cannot change any more.
func (l *wal) notWritten() error {
	var moved *fs.MovedError
	var refused *refusedError
	switch {
	case errors.As(l.failed, &moved):
		return unavailable("the folder or the log of the graph was moved, removed or replaced; open the graph again", l.failed)
	case errors.As(l.failed, &refused) && fs.IsNoSpace(l.failed):
		return unavailable("the disk of the graph is full; free some space and open the graph again", l.failed)
	}
	return unavailable("the log of the graph failed; open the graph again", l.failed)
}

// close writes the queued records and refuses later ones.
func (l *wal) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var last *Ticket
	if len(l.queue) > 0 {
		last = l.queue[len(l.queue)-1]
	}
	for l.leading || len(l.queue) > 0 {
		if l.leading {
			l.idle.Wait()
		} else {
			l.leadWrite()
		}
	}
	if last != nil {
		return last.err
	}
	return nil
}

// lastDurable returns the LSN of the last durable record, and whether no write has failed.
func (l *wal) lastDurable() (durable uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable, l.failed == nil
}

// closeFile closes the active file and removes the spare one.
func (l *wal) closeFile() error {
	l.spare.discard(l)
	l.spare = nil
	if l.active == nil {
		return nil
	}
	err := l.active.Close()
	l.active = nil
	return err
}

// finish marks the ticket as done and wakes its caller.
func (t *Ticket) finish() {
	t.done = true
	t.payload = nil
	t.signal()
}

// signal wakes the goroutine that waits for the ticket. If none waits yet, the next one that waits
// does not block.
func (t *Ticket) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}
