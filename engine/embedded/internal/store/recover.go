package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// recover reads the store's files and returns the state that they hold. It makes that state
// durable before it returns.
func (s *Store) recover(ctx context.Context) (*Recovered, error) {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return nil, unavailable("listing the directory", err)
	}
	found := classify(names)
	if len(found.manifests) == 0 {
		return nil, &engine.NotFound{What: "graph in directory", Name: s.dir}
	}
	// A killed process may have left directory entries that exist only in the kernel's
	// cache.
	if err := s.fsys.SyncDir(s.dir); err != nil {
		return nil, unavailable("syncing the directory", err)
	}
	newest := found.manifests[len(found.manifests)-1]
	m, err := readManifest(s.fsys, s.dir, newest)
	if err != nil {
		return nil, err
	}
	if err := s.recoverSegments(m, found.segments); err != nil {
		return nil, err
	}
	rec := &Recovered{ManifestLSN: m.upTo, Manifest: m.payload}
	for _, e := range m.segments {
		rec.Segments = append(rec.Segments, e.id)
	}
	if s.end, err = readEnd(s.fsys, s.dir, m); err != nil {
		return nil, err
	}
	s.hasEnd = true
	used, scans, err := readLogs(ctx, s.fsys, s.dir, found.logs, m.upTo, s.end)
	if err != nil {
		return nil, err
	}
	for _, scan := range scans {
		for _, r := range scan.records {
			if r.LSN > m.upTo {
				rec.Records = append(rec.Records, r)
			}
		}
	}
	if err := s.log.resume(used, scans[len(scans)-1]); err != nil {
		return nil, err
	}
	s.recovered = s.log.durable
	m.payload = nil
	s.manifest = m
	s.manifests = []uint64{m.number}
	return rec, s.removeLeftovers(found, used)
}

// recoverSegments checks that the segments of the manifest exist, and registers all other
// segments, since records may name them.
func (s *Store) recoverSegments(m manifest, there []uint64) error {
	for _, number := range there {
		s.segments[SegmentID(number)] = &segmentState{recovered: true}
		s.nextSegment = max(s.nextSegment, SegmentID(number)+1)
	}
	s.nextSegment = max(s.nextSegment, m.next)
	for _, e := range m.segments {
		state := s.segments[e.id]
		if state == nil {
			return &engine.Corrupt{Object: filename(s.dir, uint64(e.id), segmentExt), Detail: fmt.Sprintf(
				"the file is missing, but manifest %d names it", m.number)}
		}
		*state = segmentState{size: e.size, crc: e.crc, known: true, manifest: m.number}
	}
	return nil
}

// removeLeftovers removes the files that remained after a crash, and keeps the obsolete log files
// for reuse.
func (s *Store) removeLeftovers(found listing, used []openLog) error {
	for _, name := range found.temps {
		if err := s.fsys.Remove(filepath.Join(s.dir, name)); err != nil {
			return unavailable("removing a temporary file", err)
		}
	}
	for _, number := range found.manifests[:len(found.manifests)-1] {
		if err := s.fsys.Remove(filename(s.dir, number, manifestExt)); err != nil {
			return unavailable("removing an old manifest", err)
		}
	}
	for _, number := range found.logs {
		if number >= used[0].number {
			break
		}
		if err := s.fsys.Remove(filename(s.dir, number, logExt)); err != nil {
			return unavailable("removing an old log file", err)
		}
	}
	for _, number := range found.free {
		name := filename(s.dir, number, freeExt)
		size, err := fileSize(s.fsys, name)
		var shared bool
		if err == nil {
			shared, err = s.lock.Shared(name)
		}
		if err == nil && (shared || size != s.log.size || len(s.log.free) == maxFree) {
			err = s.fsys.Remove(name)
		} else if err == nil {
			s.log.free = append(s.log.free, number)
		}
		if err != nil {
			return unavailable("inspecting a free log file", err)
		}
	}
	return nil
}

// openLog is a log file with its decoded header.
type openLog struct {
	logHeader
	data []byte // content of the file; zeros may be left out at its end
}

// readLogs reads the log files that hold records after upTo, the last record in the manifest. It
// checks that no file is missing and that the records up to LSN `end` exist. The last file's scan
// may have a torn end.
func readLogs(ctx context.Context, fsys fs.FS, dir string, numbers []uint64, upTo, end uint64) ([]openLog, []logScan, error) {
	var files []openLog
	var scans []logScan
	for _, number := range slices.Backward(numbers) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		name := filename(dir, number, logExt)
		file, scan, err := readLog(fsys, dir, number)
		if err != nil {
			return nil, nil, err
		}
		if len(files) > 0 {
			later := files[len(files)-1]
			switch {
			case number+1 != later.number:
				return nil, nil, missingLog(dir, later.number-1, upTo)
			case scan.next != later.first:
				return nil, nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
					"offset %d: the frame of record %d is missing or not valid; the next log file starts with record %d",
					scan.end, scan.next, later.first)}
			}
		} else if scan.next <= upTo {
			return nil, nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
				"offset %d: the frame of record %d is missing or not valid; the manifest records that record %d is durable",
				scan.end, scan.next, upTo)}
		} else if scan.next <= end {
			return nil, nil, &engine.Corrupt{Object: name, Detail: fmt.Sprintf(
				"offset %d: the frame of record %d is missing or not valid; record %d was durable when the graph was last closed",
				scan.end, scan.next, end)}
		}
		files, scans = append(files, file), append(scans, scan)
		if file.first <= upTo+1 {
			slices.Reverse(files)
			slices.Reverse(scans)
			return files, scans, nil
		}
	}
	missing := uint64(1)
	if len(files) > 0 {
		missing = files[len(files)-1].number - 1
	}
	return nil, nil, missingLog(dir, missing, upTo)
}

// missingLog returns the *engine.Corrupt of a log file that does not exist.
func missingLog(dir string, number, upTo uint64) error {
	return &engine.Corrupt{Object: filename(dir, number, logExt), Detail: fmt.Sprintf(
		"the file is missing, and with it the records after record %d", upTo)}
}

// readLog reads a log file, and scans its records.
func readLog(fsys fs.FS, dir string, number uint64) (openLog, logScan, error) {
	name := filename(dir, number, logExt)
	data, size, err := readUsed(fsys, name)
	if err != nil {
		return openLog{}, logScan{}, unavailable("reading the log", err)
	}
	h, err := decodeLogHeader(data, size, name, number)
	if err != nil {
		return openLog{}, logScan{}, err
	}
	scan, err := scanLog(data, h, name)
	return openLog{logHeader: h, data: data}, scan, err
}

// maxLogFile is the greatest length of a log file, in bytes. The longest record has 4 GiB.
const maxLogFile = 8 << 30

// readPiece is the number of bytes that readUsed reads at a time.
const readPiece = 64 << 10

// readUsed returns the size of a file and its content. It leaves out zeros at the end of the file,
// because most of a log file consists of them, but keeps as many as a frame header has bytes.
func readUsed(fsys fs.FS, name string) (data []byte, size int64, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if size, err = f.Size(); err != nil {
		return nil, 0, err
	}
	if size > maxLogFile {
		return nil, 0, &iofs.PathError{Op: "read", Path: name, Err: fmt.Errorf("the file has %d bytes, and a log file has at most %d", size, int64(maxLogFile))}
	}
	piece, zeros := make([]byte, readPiece), make([]byte, readPiece)
	for at := int64(0); at < size; at += readPiece {
		piece = piece[:min(readPiece, size-at)]
		if n, err := f.ReadAt(piece, at); n < len(piece) {
			return nil, 0, err
		}
		if bytes.Equal(piece, zeros[:len(piece)]) {
			continue
		}
		data = append(data, make([]byte, at-int64(len(data)))...)
		data = append(data, piece...)
	}
	return append(data, zeros[:min(frameHeaderSize, size-int64(len(data)))]...), size, nil
}

// resume makes the last of the files the active one. It repeats the last write, because
// after a failed sync or a kill that write may be in memory only, and a second sync need
// not report this. It clears the remains of a torn write, so that they cannot follow new
// frames.
func (l *wal) resume(files []openLog, last logScan) error {
	for _, file := range files {
		l.files = append(l.files, logFile{number: file.number, first: file.first, size: file.size})
	}
	active := files[len(files)-1]
	name := filename(l.dir, active.number, logExt)
	f, err := l.openOwn(name, active)
	var held *fs.LockedError
	switch {
	case errors.As(err, &held):
		return &engine.Unavailable{Reason: name + " is hard-linked into another folder and open there; copy the folder without hard links"}
	case err != nil:
		return unavailable("opening the log", err)
	}
	l.active, l.path = f, name
	tail := make([]byte, max(last.end, last.tornEnd)-last.lastWrite)
	copy(tail, active.data[last.lastWrite:])
	clear(tail[last.end-last.lastWrite:])
	if len(tail) > 0 {
		if _, err := f.WriteAt(tail, last.lastWrite); err != nil {
			return unavailable("writing the end of the log", err)
		}
		if err := f.Sync(); err != nil {
			return unavailable("syncing the log", err)
		}
	}
	l.seed, l.offset = active.seed(), last.end
	l.next, l.durable = last.next, last.next-1
	l.plannedFile, l.plannedBytes = active.number, active.size-last.end
	return nil
}

// openOwn opens a log file for writing. If another directory has a hard link to the file,
// openOwn first replaces the file with a copy.
func (l *wal) openOwn(name string, log openLog) (fs.File, error) {
	f, err := l.fsys.OpenWrite(name)
	if err != nil {
		return nil, err
	}
	shared, err := l.fsys.Shared(name)
	if err == nil && !shared {
		return f, nil
	}
	f.Close()
	if err == nil {
		data := append(log.data, make([]byte, log.size-int64(len(log.data)))...)
		err = replaceFile(l.fsys, l.dir, name, data)
	}
	if err != nil {
		return nil, err
	}
	return l.fsys.OpenWrite(name)
}

// fileSize returns the size of a file in bytes.
func fileSize(fsys fs.FS, name string) (size int64, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	size, err = f.Size()
	return size, errors.Join(err, f.Close())
}

// removeIfThere removes a file. It returns nil if the file does not exist.
func removeIfThere(fsys fs.FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}
