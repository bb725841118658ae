package store

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// segmentState describes a segment file.
type segmentState struct {
	known     bool   // size and crc are set
	size      int64  // in bytes
	crc       uint32 // checksum of the footer
	manifest  uint64 // number of the last manifest that lists the segment, even if writing it failed
	recovered bool   // the segment existed at Open, but the manifest did not list it
	named     uint64 // LSN of the first record that lists the segment; 0 if unknown
}

// Checkpoint installs a new manifest, which contains the payload and lists the segments. The
// payload and the segments must contain the effect of all records up to upTo. The segments must
// include every segment that the manifest or a record after upTo needs, except segments to which
// one of those later records is the first to refer. The record upTo must be durable, and upTo must
// not decrease from call to call; otherwise the error is an *engine.Conflict. After the manifest is
// installed, Checkpoint recycles the log files that hold no later records and removes the segments
// that are not needed any more.
//
// After a crash at any point, either the old manifest or the new one is in force. When
// Checkpoint fails, the old one stays in force until the next Open, which may find the new
// one. Both agree with the log. Checkpoint does not report files that it cannot remove or
// recycle: the next checkpoint or Open tries again.
func (s *Store) Checkpoint(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID) error {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if durable := s.Durable(); upTo > durable {
		return &engine.Conflict{Reason: fmt.Sprintf("a checkpoint cannot cover the records up to %d; only the records up to %d are durable", upTo, durable)}
	}
	if err := s.usable(); err != nil {
		return err
	}
	ids := slices.Clone(segments)
	slices.Sort(ids)
	m := manifest{upTo: upTo, payload: payload}
	for _, id := range slices.Compact(ids) {
		e, err := s.entry(ctx, id)
		if err != nil {
			return err
		}
		m.segments = append(m.segments, e)
	}
	s.mu.Lock()
	m.next = s.nextSegment
	m.number = s.manifests[len(s.manifests)-1] + 1
	before := s.manifest.upTo
	s.mu.Unlock()
	if upTo < before {
		return &engine.Conflict{Reason: fmt.Sprintf("a checkpoint cannot cover only the records up to %d; the last one covers the records up to %d", upTo, before)}
	}
	if err := s.checkMoved(); err != nil {
		return err
	}
	s.mu.Lock()
	hasEnd := s.hasEnd
	s.mu.Unlock()
	if !hasEnd {
		// A manifest of the current format requires END.
		if err := s.noteEnd(upTo); err != nil {
			return err
		}
	}
	if err := s.install(m); err != nil {
		return err
	}
	// Files that could not be removed only occupy space.
	_ = s.log.recycle(upTo)
	s.removeManifests()
	s.removeSegments(m)
	return nil
}

// Rewrite does the same as Checkpoint: an Open of this store always begins with the last manifest.
func (s *Store) Rewrite(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID) error {
	return s.Checkpoint(ctx, payload, upTo, segments)
}

// RemoveSegment removes a segment that no record and no manifest lists or will list, for example
// the segment of a failed load. The error is an *engine.NotFound if the segment does not exist, and
// an *engine.Conflict if the log or a manifest uses it.
func (s *Store) RemoveSegment(id SegmentID) error {
	s.mu.Lock()
	state := s.segments[id]
	switch {
	case state == nil:
		s.mu.Unlock()
		return &engine.NotFound{What: "segment", Name: filename("", uint64(id), segmentExt)}
	case state.manifest != 0 || state.named != 0 || state.recovered:
		s.mu.Unlock()
		return &engine.Conflict{Reason: fmt.Sprintf("segment %d is in use by the log or the manifest", id)}
	}
	delete(s.segments, id)
	s.mu.Unlock()
	if err := removeIfThere(s.fsys, filename(s.dir, uint64(id), segmentExt)); err != nil {
		return unavailable(fmt.Sprintf("removing segment %d", id), err)
	}
	return nil
}

// Sizes returns the sizes in bytes of the existing segments, by id. An unknown size is 0.
func (s *Store) Sizes() map[SegmentID]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sizes := make(map[SegmentID]int64, len(s.segments))
	for id, state := range s.segments {
		sizes[id] = state.size
	}
	return sizes
}

// entry returns the manifest's entry for a segment.
func (s *Store) entry(ctx context.Context, id SegmentID) (manifestEntry, error) {
	s.mu.Lock()
	state := s.segments[id]
	if state == nil {
		s.mu.Unlock()
		return manifestEntry{}, &engine.NotFound{What: "segment", Name: filename("", uint64(id), segmentExt)}
	}
	e := manifestEntry{id: id, size: state.size, crc: state.crc}
	known := state.known
	s.mu.Unlock()
	if known {
		return e, nil
	}
	seg, err := s.OpenSegment(ctx, id)
	if err != nil {
		return manifestEntry{}, err
	}
	e.size, e.crc = seg.size, seg.crc
	return e, nil
}

// install makes a manifest durable and then puts it in force.
func (s *Store) install(m manifest) error {
	name := filename(s.dir, m.number, manifestExt)
	s.mu.Lock()
	// Even if the attempt fails, its number is not used again and its segments stay: the
	// next Open may find this manifest.
	s.manifests = append(s.manifests, m.number)
	for _, e := range m.segments {
		s.segments[e.id].manifest = m.number
	}
	s.mu.Unlock()
	if err := s.writeFile(name, m.encode()); err != nil {
		return unavailable(fmt.Sprintf("writing manifest %d", m.number), err)
	}
	m.payload = nil
	s.mu.Lock()
	s.manifest = m
	s.mu.Unlock()
	return nil
}

// writeFile creates or replaces a file with the given content. The file is durable on
// return.
func (s *Store) writeFile(name string, data []byte) error {
	err := replaceFile(s.fsys, s.dir, name, data)
	s.noteFull(err)
	return err
}

// replaceFile creates a file in dir with the given content, or replaces an existing one.
// The file is durable on return.
func replaceFile(fsys fs.FS, dir, name string, data []byte) error {
	temp := name + tempExt
	f, err := createTemp(fsys, temp)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(fsys, temp))
	}
	return fsys.SyncDir(dir)
}

// createTemp creates a temporary file. It first removes an old one that an earlier attempt
// could not remove.
func createTemp(fsys fs.FS, temp string) (fs.File, error) {
	f, err := fsys.Create(temp)
	if errors.Is(err, iofs.ErrExist) {
		if err := fsys.Remove(temp); err != nil {
			return nil, err
		}
		f, err = fsys.Create(temp)
	}
	return f, err
}

// removeManifests removes the manifests that are not in force.
func (s *Store) removeManifests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifests = slices.DeleteFunc(s.manifests, func(number uint64) bool {
		return number != s.manifest.number && removeIfThere(s.fsys, filename(s.dir, number, manifestExt)) == nil
	})
}

// removeSegments removes the segments to which neither the manifest nor a later record can refer.
func (s *Store) removeSegments(m manifest) {
	var done []SegmentID
	s.mu.Lock()
	for id, state := range s.segments {
		if state.manifest != m.number && (state.manifest != 0 ||
			state.recovered && m.upTo >= s.recovered ||
			state.named != 0 && state.named <= m.upTo) {
			done = append(done, id)
		}
	}
	s.mu.Unlock()
	for _, id := range done {
		if removeIfThere(s.fsys, filename(s.dir, uint64(id), segmentExt)) == nil {
			s.mu.Lock()
			delete(s.segments, id)
			s.mu.Unlock()
		}
	}
}

// usable returns an error if the store is closed.
func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &engine.Unavailable{Reason: "it is closed"}
	}
	return nil
}
