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

// rotate makes the next log file, with room for a frame of need bytes, the active one.
// Only the leader, or whoever has the log to itself, may call it. When it fails, the log
// on disk is as before, or has the file and no record in it.
func (l *wal) rotate(first uint64, need int64) error {
	l.mu.Lock()
	number := uint64(1)
	if len(l.files) > 0 {
		number = l.files[len(l.files)-1].number + 1
	}
	size, free := l.size, uint64(0)
	if need > size-logHeaderSize {
		size = logHeaderSize + pad(need, logHeaderSize)
	} else if n := len(l.free); n > 0 {
		free = l.free[n-1]
		l.free = l.free[:n-1]
	}
	l.mu.Unlock()

	h := logHeader{number: number, first: first, salt: l.salt(), size: size}
	f, err := l.newFile(h, free)
	if err != nil {
		return unavailable(fmt.Sprintf("making log file %d", number), err)
	}
	err = l.closeFile()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, logFile{number: number, first: first, size: size})
	l.active, l.seed, l.offset = f, h.seed(), logHeaderSize
	if err != nil {
		return unavailable("closing a full log file", err)
	}
	return nil
}

// newFile makes a log file without records, of a free one if its number is given. It is
// durable on return.
func (l *wal) newFile(h logHeader, free uint64) (fs.File, error) {
	name := filename(l.dir, h.number, logExt)
	temp, open, fill := name+tempExt, l.fsys.Create, h.size
	if free != 0 {
		temp, open, fill = filename(l.dir, free, freeExt), l.fsys.OpenWrite, 0
	}
	f, err := open(temp)
	if err != nil {
		return nil, err
	}
	err = writeEmptyLog(f, h, fill)
	if err == nil {
		err = l.fsys.Rename(temp, name)
	}
	if err == nil {
		err = l.fsys.SyncDir(l.dir)
	}
	if err != nil {
		// What cannot be removed now is removed by the next Open.
		f.Close()
		_ = l.fsys.Remove(temp)
		return nil, err
	}
	return f, nil
}

// writeEmptyLog fills so many bytes of a file with zeros, puts the header in front, and
// syncs.
func writeEmptyLog(f fs.File, h logHeader, fill int64) error {
	zeros := make([]byte, min(fill, fillSize))
	for off := int64(0); off < fill; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), fill-off)], off); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return err
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
		if file.size != l.size || len(freed) >= room {
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
