package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

const (
	wholeBytes    = 2 << 20 // size up to which a segment is fetched whole; see SharedOptions
	fetchPart     = 8 << 20 // bytes of a segment that one request reads
	fetchRequests = 3       // requests at a time for one segment, so that it arrives sooner than over one connection
	fetchSegments = 8       // segments that FetchAll fetches at a time
)

// sharedSegment is a segment of a shared graph. In its segmentState, `manifest` is the round of the
// last checkpoint that lists the segment.
type sharedSegment struct {
	segmentState
	opened   uint64        // the round in which the segment was last opened
	whole    bool          // the file in the cache has no holes
	fetching chan struct{} // closed when the fetch in progress ends; nil if there is none
}

// objectName returns the name of a segment's object, without the prefix of the graph.
func objectName(id SegmentID) string { return sharedlog.SegmentName(uint64(id)) }

// newSegmentID reserves the id of a new segment.
func (s *Shared) newSegmentID(ctx context.Context) (SegmentID, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return 0, &engine.Unavailable{Reason: "it is closed"}
	case s.queue.Load() == nil:
		return 0, ErrReader
	}
	id := s.nextSegment
	s.nextSegment++
	return id, nil
}

// WriteSegment implements [Storage]. It writes the file to the cache and uploads it, so the segment
// is in the shared storage before any record can name it.
func (s *Shared) WriteSegment(ctx context.Context, write func(w *SegmentWriter) error) (SegmentID, error) {
	id, err := s.newSegmentID(ctx)
	if err != nil {
		return 0, err
	}
	state, err := writeSegment(ctx, s.cache, s.opts.Cache, id, write)
	if err != nil {
		return 0, err
	}
	file := s.files.add(id, state.size, true)
	defer file.release()
	if err := s.upload(ctx, id, state.size); err != nil {
		return 0, errors.Join(err, s.files.remove(id))
	}
	s.mu.Lock()
	s.segments[id] = &sharedSegment{segmentState: *state, whole: true}
	s.mu.Unlock()
	return id, nil
}

// file returns the path of a segment in the cache.
func (s *Shared) file(id SegmentID) string { return filename(s.opts.Cache, uint64(id), segmentExt) }

// repeat sends a request to the storage, until it answers or the patience ends.
func (s *Shared) repeat(ctx context.Context, request func() error) error {
	return s.logOptions().Repeat(ctx, request)
}

// upload copies a segment from the cache to the shared storage.
func (s *Shared) upload(ctx context.Context, id SegmentID, size int64) error {
	f, err := s.cache.Open(s.file(id))
	if err != nil {
		return unavailable("reading a segment in the cache", err)
	}
	defer f.Close()
	err = s.repeat(ctx, func() error {
		return s.opts.Bucket.Upload(ctx, s.opts.Prefix+objectName(id), io.NewSectionReader(f, 0, size), size)
	})
	return s.mapped(err)
}

// OpenSegment implements [Storage]. If the cache does not have the file, OpenSegment fetches it, or its ends only if
// it is large. Calls that need the same file at the same time share one fetch.
func (s *Shared) OpenSegment(ctx context.Context, id SegmentID) (*Segment, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file, whole, err := s.claim(ctx, id)
		if err != nil {
			return nil, err
		}
		if file == nil {
			continue // the fetch of another call has ended
		}
		seg, err := mapSegment(s.cache, s.file(id), id)
		if err == nil && !whole {
			seg.fill = s.newFiller(id, file)
			err = file.openToWrite()
		}
		switch {
		case err == nil:
			runtime.AddCleanup(seg.mapping, (*cachedFile).release, file)
			return seg, nil
		case errors.Is(err, iofs.ErrNotExist):
			file.discard() // another program has removed the file
			file.release()
			continue
		}
		file.release()
		return nil, err
	}
}

// FetchAll makes sure that the cache has the files of segments that the checkpoint lists, as OpenSegment does. It
// fetches several at a time. A segment that cannot be fetched is left out: OpenSegment then returns the error.
func (s *Shared) FetchAll(ctx context.Context, ids []SegmentID) {
	slices.Sort(ids)
	var group errgroup.Group
	group.SetLimit(fetchSegments)
	for _, id := range slices.Compact(ids) {
		group.Go(func() error {
			if !s.knows(id) {
				return nil
			}
			if file, _, err := s.claim(ctx, id); err == nil && file != nil {
				file.release()
			}
			return nil
		})
	}
	_ = group.Wait()
}

// claim returns the file of a segment in the cache, and whether it has no holes. It fetches the file if it must. If
// another call is fetching it, claim waits for that call and returns nil. The caller must release
// the file.
func (s *Shared) claim(ctx context.Context, id SegmentID) (file *cachedFile, whole bool, err error) {
	s.mu.Lock()
	state := s.segments[id]
	switch {
	case s.closed:
		s.mu.Unlock()
		return nil, false, &engine.Unavailable{Reason: "it is closed"}
	case state == nil:
		state = &sharedSegment{segmentState: segmentState{recovered: true}}
		s.segments[id] = state
	}
	state.opened = s.round
	if file := s.files.use(id, true); file != nil {
		whole := state.whole
		s.mu.Unlock()
		return file, whole, nil
	}
	if waiting := state.fetching; waiting != nil {
		s.mu.Unlock()
		select {
		case <-waiting:
			return nil, false, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	done := make(chan struct{})
	state.fetching = done
	want := state.segmentState
	s.mu.Unlock()

	file, crc, whole, err := s.fetch(ctx, id, want)

	s.mu.Lock()
	defer s.mu.Unlock()
	state.fetching = nil
	close(done)
	if err != nil {
		return nil, false, err
	}
	if !want.known {
		state.size = file.size // fetched whole
	}
	state.known, state.crc, state.whole = true, crc, whole
	return file, whole, nil
}

// fetch makes sure that the cache has the file of a segment. It returns the file, which the caller
// must release, the checksum of the file's footer, and whether the file has no holes. It trusts a file that an earlier
// process left only if `want` has the same size and checksum. If a checkpoint gives the size of the segment, and the
// segment is large, fetch reads only its ends, unless reads of an earlier state go on: those will soon need the
// segments of the new state, and should not wait for each piece. Otherwise it verifies the fetched file completely before it
// gives the file its final name.
func (s *Shared) fetch(ctx context.Context, id SegmentID, want segmentState) (file *cachedFile, crc uint32, whole bool, err error) {
	if file := s.files.use(id, false); file != nil {
		if want.known {
			if seg, err := mapSegment(s.cache, s.file(id), id); err == nil && seg.size == want.size && seg.crc == want.crc {
				whole := s.withoutHoles(id, want.size)
				file.verify()
				return file, seg.crc, whole, nil
			}
		}
		file.release()
		_ = s.files.remove(id) // the fetched file takes its name in any case
	}
	temp := s.file(id) + tempExt
	f, err := createTemp(s.cache, temp)
	if err != nil {
		return nil, 0, false, unavailable("making a file in the cache", err)
	}
	file = s.files.add(id, 0, false)
	whole = !want.known || want.size <= cmp.Or(s.opts.Whole, wholeBytes) || s.reloading.Load()
	if whole {
		crc, err = s.fetchWhole(ctx, id, f, file, want)
	} else {
		crc, err = s.fetchEnds(ctx, id, f, file, want)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = s.cache.Rename(temp, s.file(id))
	}
	if err != nil {
		file.discard()
		return nil, 0, false, errors.Join(err, removeIfThere(s.cache, temp))
	}
	file.verify()
	return file, crc, whole, nil
}

// withoutHoles reports whether the disk has all bytes of a file in the cache. If the file system does not tell, the
// result is false.
func (s *Shared) withoutHoles(id SegmentID, size int64) bool {
	f, err := s.cache.Open(s.file(id))
	if err != nil {
		return false
	}
	defer f.Close()
	n, ok := fs.Allocated(f)
	return ok && n >= size
}

// fetchWhole writes the object of a segment to `f`, and verifies it. It returns the checksum of the footer.
func (s *Shared) fetchWhole(ctx context.Context, id SegmentID, f fs.File, file *cachedFile, want segmentState) (crc uint32, err error) {
	size, err := s.download(ctx, id, f, file, want)
	if err != nil {
		return 0, err
	}
	return s.verifyFile(f, size, id, want)
}

// download writes the object of a segment to `f`, and returns its size. If a checkpoint gives the size,
// download reads several parts at a time. It counts each part as part of `file` before it writes the part.
func (s *Shared) download(ctx context.Context, id SegmentID, f fs.File, file *cachedFile, want segmentState) (size int64, err error) {
	if !want.known {
		for {
			n, err := s.downloadPart(ctx, id, f, file, size, fetchPart)
			if size += n; err != nil || n < fetchPart {
				return size, err
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fetchRequests)
	var total atomic.Int64
	for at := int64(0); at < want.size; at += fetchPart {
		group.Go(func() error {
			n, err := s.downloadPart(ctx, id, f, file, at, min(fetchPart, want.size-at))
			total.Add(n)
			return err
		})
	}
	err = group.Wait()
	return total.Load(), err // a part that is too short makes the total differ, and verifyFile finds that
}

// downloadPart writes `length` bytes of a segment's object, from an offset on, to the same place of `f`. It
// returns the number of bytes, which is less than `length` if the object ends before.
func (s *Shared) downloadPart(ctx context.Context, id SegmentID, f fs.File, file *cachedFile, at, length int64) (int64, error) {
	part, err := s.readUpTo(ctx, id, at, length)
	if err != nil {
		return 0, err
	}
	file.grow(int64(len(part)))
	if _, err := f.WriteAt(part, at); err != nil {
		return 0, unavailable("writing a segment to the cache", err)
	}
	return int64(len(part)), nil
}

// readUpTo reads `length` bytes of a segment's object, or fewer if the object ends before.
func (s *Shared) readUpTo(ctx context.Context, id SegmentID, at, length int64) (part []byte, err error) {
	name := s.opts.Prefix + objectName(id)
	err = s.repeat(ctx, func() (err error) {
		part, err = s.opts.Bucket.Read(ctx, name, at, length)
		return err
	})
	if errors.Is(err, object.ErrNotFound) {
		return nil, s.missing(name)
	}
	return part, s.mapped(err)
}

// readPart reads `length` bytes of a segment's object. If the object ends before, the error is a *engine.Corrupt.
func (s *Shared) readPart(ctx context.Context, id SegmentID, at, length int64) ([]byte, error) {
	part, err := s.readUpTo(ctx, id, at, length)
	if err == nil && int64(len(part)) < length {
		return nil, &engine.Corrupt{Object: s.opts.Prefix + objectName(id), Detail: fmt.Sprintf("the object ends before offset %d", at+length)}
	}
	return part, err
}

// checkCopy returns an error unless a segment has the size and the checksum that a checkpoint gives.
func (s *Shared) checkCopy(seg *Segment, id SegmentID, want segmentState) error {
	if !want.known || want.size == seg.size && want.crc == seg.crc {
		return nil
	}
	return &engine.Corrupt{Object: s.opts.Prefix + objectName(id), Detail: fmt.Sprintf(
		"the segment has %d bytes and footer checksum %08x, but the checkpoint gives %d bytes and checksum %08x", seg.size, seg.crc, want.size, want.crc)}
}

// verifyFile reads a whole file of a segment and checks it. It returns the checksum of the footer.
func (s *Shared) verifyFile(f fs.File, size int64, id SegmentID, want segmentState) (crc uint32, err error) {
	name := s.opts.Prefix + objectName(id)
	seg, err := readFooter(f, size, name, id)
	if err != nil {
		return 0, err
	}
	if err := s.checkCopy(seg, id, want); err != nil {
		return 0, err
	}
	for _, block := range seg.names {
		if err := seg.blocks[block].read(f, name); err != nil {
			return 0, err
		}
	}
	return seg.crc, nil
}

// RemoveSegment implements [Storage]. If the storage does not answer, the object remains and only
// takes space.
func (s *Shared) RemoveSegment(id SegmentID) error {
	s.mu.Lock()
	state := s.segments[id]
	switch {
	case state == nil:
		s.mu.Unlock()
		return &engine.NotFound{What: "segment", Name: objectName(id)}
	case state.manifest != 0 || state.named != 0 || state.recovered:
		s.mu.Unlock()
		return &engine.Conflict{Reason: fmt.Sprintf("segment %d is in use by the log or a checkpoint", id)}
	}
	delete(s.segments, id)
	s.mu.Unlock()
	err := s.opts.Bucket.Delete(context.Background(), s.opts.Prefix+objectName(id))
	return errors.Join(s.mapped(err), s.files.remove(id))
}

// forget removes the segments for which f returns true from the cache. Their objects stay in the
// shared storage, because other servers may read them. If this server opens such a segment again,
// for a read that began before, it fetches the object anew. f is called with s.mu locked.
func (s *Shared) forget(f func(*sharedSegment) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, state := range s.segments {
		if state.fetching == nil && f(state) {
			delete(s.segments, id)
			// A file that cannot be removed only takes space until the next process opens the cache.
			_ = s.files.remove(id)
		}
	}
	for _, id := range s.files.unverified() {
		if s.segments[id] == nil {
			_ = s.files.remove(id)
		}
	}
}

// CacheBytes returns the bytes of the segments in the cache of the graph. Temporary files of loads do
// not count.
func (s *Shared) CacheBytes() int64 { return s.files.bytes() }

// WriteScratch implements [Storage]. The file is only in the cache.
func (s *Shared) WriteScratch(ctx context.Context, write func(w *SegmentWriter) error) (*Segment, error) {
	id, err := s.newSegmentID(ctx)
	if err != nil {
		return nil, err
	}
	return writeScratch(ctx, s.cache, s.opts.Cache, id, write)
}

// Sizes implements [Storage].
func (s *Shared) Sizes() map[SegmentID]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sizes := make(map[SegmentID]int64, len(s.segments))
	for id, state := range s.segments {
		sizes[id] = state.size
	}
	return sizes
}

// Verify implements [Storage]. It checks that the shared storage has each segment with its size,
// and reads the segments in the cache, except their holes. It does not fetch the other segments, and does not read the
// log.
func (s *Shared) Verify(ctx context.Context) error {
	stored, err := s.storedSizes(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	states := make(map[SegmentID]sharedSegment, len(s.segments))
	for id, state := range s.segments {
		states[id] = *state
	}
	s.mu.Unlock()
	faults := &faultList{}
	for _, id := range slices.Sorted(maps.Keys(states)) {
		state := states[id]
		name := s.opts.Prefix + objectName(id)
		switch size, there := stored[name]; {
		case state.fetching != nil || !state.known:
			continue // a fetch verifies it
		case !there && s.isOutdated():
			return s.missing(name) // it may have been collected
		case !there && s.knows(id):
			faults.add(&engine.Corrupt{Object: name, Detail: "the object is missing"})
		case there && state.known && size != state.size:
			faults.add(&engine.Corrupt{Object: name, Detail: fmt.Sprintf("the object has %d bytes, expected %d", size, state.size)})
		}
		file := s.files.use(id, true)
		if file == nil {
			continue
		}
		found := &faultList{}
		err := found.segment(ctx, s.cache, s.opts.Cache, id, state.segmentState, !state.whole)
		file.release()
		if err != nil {
			return err
		}
		if s.knows(id) {
			for _, fault := range found.errs {
				faults.add(fault)
			}
		}
	}
	return faults.join()
}

// isOutdated reports whether the state of this server needs segments that the checkpoint in force does
// not need.
func (s *Shared) isOutdated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outdated && s.queue.Load() == nil
}

// knows reports whether a checkpoint has not removed the segment meanwhile.
func (s *Shared) knows(id SegmentID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.segments[id] != nil
}

// storedSizes lists the segments in the shared storage, by the whole name of the object.
func (s *Shared) storedSizes(ctx context.Context) (map[string]int64, error) {
	sizes := map[string]int64{}
	for after := ""; ; {
		var list []object.Entry
		err := s.repeat(ctx, func() (err error) {
			list, err = s.opts.Bucket.List(ctx, s.opts.Prefix+"segment/", after, object.MaxList)
			return err
		})
		if err != nil {
			return nil, s.mapped(err)
		}
		for _, e := range list {
			sizes[e.Name] = e.Size
		}
		if len(list) < object.MaxList {
			return sizes, nil
		}
		after = list[len(list)-1].Name
	}
}
