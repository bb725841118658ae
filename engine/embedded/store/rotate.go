package store

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

const (
	// maxFree is the number of free log files that are kept.
	maxFree = 4

	// fillSize is the bytes of zeros that one write puts in a file being made.
	fillSize = 1 << 20
)

// nextFile is a file that can become the next log file without taking more space.
type nextFile struct {
	size int64
	free uint64  // number of the free file that it is; else it is new
	temp string  // path of the new file
	f    fs.File // the new file, full of zeros
}

// discard removes a new file that will not be used. nil and free files are left alone.
func (n *nextFile) discard(l *wal) {
	if n != nil && n.f != nil {
		// What cannot be removed now is removed by the next Open.
		n.f.Close()
		_ = l.fsys.Remove(n.temp)
	}
}

// fileSize returns the size of a log file that begins with a frame of need bytes.
func (l *wal) fileSize(need int64) int64 {
	if need > l.size-logHeaderSize {
		return logHeaderSize + pad(need, logHeaderSize)
	}
	return l.size
}

// nextFileLocked takes a file for a frame of need bytes from those that exist, nil if there
// is none. REQUIRES: mu.
func (l *wal) nextFileLocked(need int64) *nextFile {
	if next := l.spare; next != nil && next.size >= l.fileSize(need) {
		l.spare = nil
		return next
	}
	if n := len(l.free); n > 0 && l.fileSize(need) == l.size {
		number := l.free[n-1]
		l.free = l.free[:n-1]
		return &nextFile{size: l.size, free: number}
	}
	return nil
}

// reserve makes sure that there is a file for a record if it does not fit into the last
// one, so that enqueue most likely need not make one. The error leaves the log as it was.
func (l *wal) reserve(payload int) error {
	size := frameSize(payload)
	l.mu.Lock()
	enough := size <= l.room || l.failed != nil || l.closed ||
		l.spare != nil && l.spare.size >= l.fileSize(size) ||
		len(l.free) > 0 && l.fileSize(size) == l.size
	l.mu.Unlock()
	if enough {
		return nil
	}
	return l.prepare(size)
}

// prepare makes a spare file for a frame of need bytes.
func (l *wal) prepare(need int64) error {
	l.preparing.Lock()
	defer l.preparing.Unlock()
	l.mu.Lock()
	old := l.spare
	if old != nil && old.size >= l.fileSize(need) || l.closed || l.failed != nil {
		l.mu.Unlock()
		return nil
	}
	l.spare = nil
	next := &nextFile{size: l.fileSize(need), temp: filename(l.dir, l.planned+1, logExt) + tempExt}
	l.mu.Unlock()
	old.discard(l)
	f, err := createTemp(l.fsys, next.temp)
	if err != nil {
		return unavailable("there is no room for its log", err)
	}
	next.f = f
	if err := fillZeros(f, next.size); err != nil {
		next.discard(l)
		return unavailable("there is no room for its log", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.failed != nil {
		next.discard(l)
		return nil
	}
	l.spare = next
	return nil
}

// rotate makes the next log file the active one. Only the leader, or the one who has the
// log to itself, may call it. When it fails, the log on disk is as before, or has the file
// and no record in it.
func (l *wal) rotate(next *nextFile, first uint64) error {
	l.mu.Lock()
	number := uint64(1)
	if len(l.files) > 0 {
		number = l.files[len(l.files)-1].number + 1
	}
	l.mu.Unlock()

	h := logHeader{number: number, first: first, salt: l.salt(), size: next.size}
	name := filename(l.dir, number, logExt)
	f, err := l.beginFile(h, next, name)
	if err != nil {
		return unavailable(fmt.Sprintf("making log file %d", number), err)
	}
	if l.active != nil {
		err = l.active.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, logFile{number: number, first: first, size: next.size})
	l.active, l.path, l.seed, l.offset = f, name, h.seed(), logHeaderSize
	if err != nil {
		return unavailable("closing a full log file", err)
	}
	return nil
}

// beginFile writes the header of a log file and gives the file its name. It is durable on
// return.
func (l *wal) beginFile(h logHeader, next *nextFile, name string) (fs.File, error) {
	temp, f := next.temp, next.f
	if f == nil {
		temp = filename(l.dir, next.free, freeExt)
		var err error
		if f, err = l.fsys.OpenWrite(temp); err != nil {
			return nil, err
		}
	}
	_, err := f.WriteAt(h.encode(), 0)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = l.fsys.Rename(temp, name)
	}
	if err == nil {
		err = l.fsys.SyncDir(l.dir)
	}
	if err == nil {
		err = l.fsys.Check(nil, "")
	}
	if err != nil {
		// What cannot be removed now is removed by the next Open.
		f.Close()
		_ = l.fsys.Remove(temp)
		return nil, err
	}
	return f, nil
}

// fillZeros gives a file its size and makes its blocks durable.
func fillZeros(f fs.File, size int64) error {
	zeros := make([]byte, min(size, fillSize))
	for off := int64(0); off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
	}
	return f.Sync()
}

// recycle gives up the log files whose records are all up to upTo. Their frames mean
// nothing to a later use, which has another salt; nor does it matter if a crash gives a
// file its old name back, since nothing before the manifest is read. A file that cannot
// be given up is tried again by the next checkpoint.
func (l *wal) recycle(upTo uint64) error {
	l.mu.Lock()
	n := 0
	for n+1 < len(l.files) && l.files[n+1].first <= upTo+1 {
		n++
	}
	old := slices.Clone(l.files[:n])
	room := maxFree - len(l.free)
	l.mu.Unlock()

	var freed []uint64
	var failure error
	for i, file := range old {
		name := filename(l.dir, file.number, logExt)
		// A file that another directory has too, by a hard link, must not be written.
		shared, err := l.fsys.Shared(name)
		if file.size != l.size || len(freed) >= room || shared || err != nil {
			failure = removeIfThere(l.fsys, name)
		} else if failure = l.fsys.Rename(name, filename(l.dir, file.number, freeExt)); failure == nil {
			freed = append(freed, file.number)
		}
		if failure != nil {
			old = old[:i]
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = slices.Delete(l.files, 0, len(old))
	l.free = append(l.free, freed...)
	return failure
}

func randomSalt() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return le.Uint64(b[:])
}

// begin makes the first log file of a new store.
func (l *wal) begin() error {
	if err := l.prepare(0); err != nil {
		return err
	}
	next := l.spare
	l.spare, l.planned, l.room = nil, 1, next.size-logHeaderSize
	return l.rotate(next, 1)
}
