package store

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	// maxFree is the number of free log files to keep.
	maxFree = 4

	// fillSize is the number of zero bytes per write while a new file is filled.
	fillSize = 1 << 20
)

// nextFile is a file that can become the next log file without taking more disk space.
type nextFile struct {
	size int64   // in bytes
	free uint64  // number of the free file; 0 for a new file
	temp string  // path of the new file
	f    fs.File // the new file, filled with zeros
}

// discard removes a new file that will not be used. It does nothing for nil and for free
// files.
func (n *nextFile) discard(l *wal) {
	if n != nil && n.f != nil {
		// If the removal fails, the next Open removes the file.
		n.f.Close()
		_ = l.fsys.Remove(n.temp)
	}
}

// fileSize returns the size in bytes of a log file that begins with a frame of `need` bytes.
func (l *wal) fileSize(need int64) int64 {
	if need > l.size-logHeaderSize {
		return logHeaderSize + pad(need, logHeaderSize)
	}
	return l.size
}

// nextFileLocked removes a file with room for a frame of `need` bytes from the spare and free files
// and returns it, or returns nil if there is no such file. REQUIRES: mu is locked.
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

// reserve makes a spare file if the record may not fit into the last file, so that enqueue rarely
// has to make one. If reserve fails, the log is unchanged.
func (l *wal) reserve(payload int) error {
	size := frameSize(payload)
	l.mu.Lock()
	enough := size <= l.plannedBytes || l.failed != nil || l.closed ||
		l.spare != nil && l.spare.size >= l.fileSize(size) ||
		len(l.free) > 0 && l.fileSize(size) == l.size
	l.mu.Unlock()
	if enough {
		return nil
	}
	return l.prepare(size)
}

// prepare makes a spare file with room for a frame of `need` bytes.
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
	next := &nextFile{size: l.fileSize(need), temp: filename(l.dir, l.plannedFile+1, logExt) + tempExt}
	l.mu.Unlock()
	old.discard(l)
	f, err := createTemp(l.fsys, next.temp)
	if err != nil {
		return unavailable("the disk has no room for the log of the graph", err)
	}
	next.f = f
	if err := fillZeros(f, next.size); err != nil {
		next.discard(l)
		return unavailable("the disk has no room for the log of the graph", err)
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

// rotate makes the file `next` the active log file. Only the leader, or a caller that has exclusive
// use of the log, may call it. When it fails, the log on disk is unchanged, or has the new file
// without any record in it.
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

// beginFile writes the header of a log file and then renames the file to `name`. The file is
// durable on return.
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
		// If the removal fails, the next Open removes the file.
		f.Close()
		_ = l.fsys.Remove(temp)
		return nil, err
	}
	return f, nil
}

// fillZeros fills a file with zeros up to its size, and makes its blocks durable.
func fillZeros(f fs.File, size int64) error {
	zeros := make([]byte, min(size, fillSize))
	for off := int64(0); off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
	}
	return f.Sync()
}

// recycle frees each log file that contains only records up to upTo. When the file is used again,
// it gets another salt, so the old frames in it are invalid. A crash may restore the old name of
// the file. This does no harm, since Open reads no records that the manifest covers. The next
// checkpoint retries a file that recycle could not free.
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
		// A file of another size is no use, and one must not be written if another directory has, or may have, a hard link to it.
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

// randomSalt returns a random salt for the header of a log file.
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
	l.spare, l.plannedFile, l.plannedBytes = nil, 1, next.size-logHeaderSize
	return l.rotate(next, 1)
}
