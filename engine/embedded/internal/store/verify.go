package store

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Verify reads everything in the store in dir and changes nothing. The store must not be
// open. The error joins an *engine.Corrupt for each fault. The remains of a crash are not a
// fault.
func Verify(ctx context.Context, fsys fs.FS, dir string) error {
	names, err := fsys.List(dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return &engine.NotFound{What: "graph directory", Name: dir}
	case err != nil:
		return unavailable("listing the directory", err)
	case len(classify(names).manifests) == 0:
		return &engine.NotFound{What: "graph in directory", Name: dir}
	}
	s, err := lockStore(fsys, dir, Options{})
	if err != nil {
		return err
	}
	err = s.verifyAll(ctx)
	if releaseErr := s.release(); err == nil {
		err = releaseErr
	}
	return err
}

// Verify reads the manifest in force, every segment and every durable record. The error
// joins an *engine.Corrupt for each fault. Verify may run concurrently with any other call.
// It skips files that are removed in the meantime. A checkpoint waits for at most one file.
func (s *Store) Verify(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	faults := &faultList{}
	for _, id := range s.verifyManifest(faults) {
		if err := s.verifySegment(ctx, faults, id); err != nil {
			return err
		}
	}
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	if err := s.log.verify(ctx, faults); err != nil {
		return err
	}
	return faults.join()
}

// verifyManifest reads the manifest in force, and returns the ids of the existing segments.
func (s *Store) verifyManifest(faults *faultList) []SegmentID {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	s.mu.Lock()
	number := s.manifest.number
	ids := slices.Sorted(maps.Keys(s.segments))
	s.mu.Unlock()
	m, err := readManifest(s.fsys, s.dir, number)
	if err == nil {
		_, err = readEnd(s.fsys, s.dir, m)
	}
	if err != nil {
		faults.add(err)
	}
	return ids
}

// verifySegment reads a segment, unless it was removed before it could be opened. It
// returns only an error of the context.
func (s *Store) verifySegment(ctx context.Context, faults *faultList, id SegmentID) error {
	// While no checkpoint runs, a file to which a record or the manifest refers is not removed.
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	state, there := s.segmentState(id)
	if !there {
		return nil
	}
	found := &faultList{}
	err := found.segment(ctx, s.fsys, s.dir, id, state, false)
	if _, there = s.segmentState(id); there {
		for _, fault := range found.errs {
			faults.add(fault)
		}
	}
	return err
}

// segmentState returns the state of a segment. The result `there` is false if the store has no such
// segment.
func (s *Store) segmentState(id SegmentID) (state segmentState, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.segments[id]; known != nil {
		return *known, true
	}
	return segmentState{}, false
}

// verifyAll verifies every file of the store.
func (s *Store) verifyAll(ctx context.Context) error {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return unavailable("listing the directory", err)
	}
	found := classify(names)
	faults := &faultList{}
	segments := map[SegmentID]segmentState{}
	for _, number := range found.segments {
		segments[SegmentID(number)] = segmentState{}
	}
	var newest manifest
	var bad error
	for _, number := range found.manifests {
		if newest, bad = readManifest(s.fsys, s.dir, number); bad != nil {
			faults.add(bad)
		}
	}
	for _, e := range newest.segments {
		segments[e.id] = segmentState{known: true, size: e.size, crc: e.crc}
	}
	for id, state := range segments {
		if err := faults.segment(ctx, s.fsys, s.dir, id, state, false); err != nil {
			return err
		}
	}
	end, badEnd := readEnd(s.fsys, s.dir, newest)
	if badEnd != nil {
		faults.add(badEnd)
	}
	if bad == nil {
		_, _, bad = readLogs(ctx, s.fsys, s.dir, found.logs, newest.upTo, end)
		if bad == nil {
			return faults.join()
		}
		faults.add(bad)
	}
	// It is not certain which log files are in use, or the reading in order stopped at the
	// first fault. So read each file separately.
	for _, number := range found.logs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := readLog(s.fsys, s.dir, number); err != nil {
			faults.add(err)
		}
	}
	return faults.join()
}

// verify reads the records that are durable at the time of the call.
func (l *wal) verify(ctx context.Context, faults *faultList) error {
	l.mu.Lock()
	files := slices.Clone(l.files)
	durable, end := l.durable, l.offset
	l.mu.Unlock()
	for i, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filename(l.dir, file.number, logExt)
		data, err := fs.ReadFile(l.fsys, name)
		if err != nil {
			faults.add(unavailable("reading the log", err))
			continue
		}
		h, err := decodeLogHeader(data, int64(len(data)), name, file.number)
		if err != nil {
			faults.add(err)
			continue
		}
		want := durable + 1
		if i+1 < len(files) {
			want = files[i+1].first
		} else {
			// Exclude bytes that may have been read during a write.
			data = data[:end]
		}
		scan, err := scanLog(data, h, name)
		switch {
		case err != nil:
			faults.add(err)
		case scan.next != want:
			faults.add(&engine.Corrupt{Object: name, Detail: fmt.Sprintf(
				"offset %d: the frame of record %d is missing or not valid, but the records up to %d are durable", scan.end, scan.next, want-1)})
		}
	}
	return nil
}

// faultList collects faults.
type faultList struct{ errs []error }

// add adds a fault, unless the list has it already.
func (l *faultList) add(err error) {
	for _, known := range l.errs {
		var a, b *engine.Corrupt
		if errors.As(known, &a) && errors.As(err, &b) && *a == *b {
			return
		}
	}
	l.errs = append(l.errs, err)
}

// join returns the faults sorted by their text, so that the order of reading does not
// matter.
func (l *faultList) join() error {
	slices.SortFunc(l.errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(l.errs...)
}

// segment reads a whole segment, block by block. It returns only an error of the context. If the file may have holes, a
// piece of zeros is no fault.
func (l *faultList) segment(ctx context.Context, fsys fs.FS, dir string, id SegmentID, want segmentState, holes bool) error {
	name := filename(dir, uint64(id), segmentExt)
	f, g, err := openSegment(fsys, name, id)
	if err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			err = &engine.Corrupt{Object: name, Detail: "the file is missing"}
		}
		l.add(err)
		return ctx.Err()
	}
	defer f.Close()
	if want.known && (want.size != g.size || want.crc != g.crc) {
		l.add(&engine.Corrupt{Object: name, Detail: fmt.Sprintf(
			"the segment has %d bytes and footer checksum %08x, but the manifest gives %d bytes and checksum %08x", g.size, g.crc, want.size, want.crc)})
	}
	for _, block := range g.names {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := g.blocks[block]
		if holes {
			err = b.readFilled(f, name)
		} else {
			err = b.read(f, name)
		}
		if err != nil {
			l.add(err)
		}
	}
	return nil
}

// openSegment opens the file of a segment for reading. It does not use a mapping, because a
// mapping shows cached data and because its read faults are not returned as errors.
func openSegment(fsys fs.FS, name string, id SegmentID) (_ fs.File, _ *Segment, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, unavailable("opening a segment", err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	size, err := f.Size()
	if err != nil {
		return nil, nil, unavailable("opening a segment", err)
	}
	g, err := readFooter(f, size, name, id)
	return f, g, err
}
