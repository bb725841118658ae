package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Image is a state of a graph that can be copied to another storage. The copy has its own log, so
// its records have other LSNs: they start at 1. Segments keep their ids, because records and blocks
// name them.
type Image struct {
	Manifest []byte      // payload of the manifest
	Listed   []SegmentID // the segments that the manifest lists
	Others   []SegmentID // the segments that only records need
	Records  []Record    // the records after the manifest, in order
	From     Segments    // opens the segments
}

// recovered returns the state that an Open of the copy would find.
func (i *Image) recovered() *Recovered {
	rec := &Recovered{Manifest: i.Manifest, Segments: i.Listed}
	for n, r := range i.Records {
		rec.Records = append(rec.Records, Record{LSN: uint64(n) + 1, Kind: r.Kind, Payload: r.Payload})
	}
	return rec
}

// all returns the ids of all segments.
func (i *Image) all() []SegmentID { return slices.Concat(i.Listed, i.Others) }

// leastEpoch returns the least epoch whose writer gives its segments ids that are greater than all
// ids of the image.
func (i *Image) leastEpoch() uint64 {
	highest := SegmentID(0)
	for _, id := range i.all() {
		highest = max(highest, id)
	}
	return uint64(highest)/epochSegments + 1
}

// copyBatch is the number of records of an image that are enqueued before the first of them is
// written.
const copyBatch = 1024

// appendTo writes the records of the image to the log of the copy.
func (i *Image) appendTo(ctx context.Context, enqueue func(kind uint8, payload []byte) (*Ticket, error), wait func(*Ticket) error) error {
	for batch := range slices.Chunk(i.Records, copyBatch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var tickets []*Ticket
		var err error
		for _, r := range batch {
			var t *Ticket
			if t, err = enqueue(r.Kind, r.Payload); err != nil {
				break
			}
			tickets = append(tickets, t)
		}
		for _, t := range tickets {
			err = errors.Join(err, wait(t))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CreateFrom makes a store in dir with the content of an image, and returns the state that an Open
// would find. The store is durable when CreateFrom returns. If it fails, files without a manifest
// remain, which the caller can remove. The error is an *engine.Conflict if dir already holds a store.
func CreateFrom(ctx context.Context, fsys fs.FS, dir string, opts Options, image *Image) (_ *Store, _ *Recovered, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, nil, unavailable("making the directory", err)
	}
	s, err := lockStore(fsys, dir, opts)
	if err != nil {
		return nil, nil, err
	}
	if err := s.clear(); err != nil {
		s.release()
		return nil, nil, err
	}
	if err := s.fill(ctx, image); err != nil {
		return nil, nil, errors.Join(err, s.release())
	}
	return s, image.recovered(), nil
}

// fill writes the content of an image. The manifest, which turns the directory into a store, comes
// last.
func (s *Store) fill(ctx context.Context, image *Image) error {
	if err := s.log.begin(); err != nil {
		return err
	}
	m := manifest{number: 1, payload: image.Manifest}
	listed := slices.Clone(image.Listed)
	slices.Sort(listed)
	for _, id := range image.all() {
		state, err := s.copySegment(ctx, image.From, id)
		if err != nil {
			return err
		}
		s.segments[id] = state
		s.nextSegment = max(s.nextSegment, id+1)
	}
	for _, id := range listed {
		m.segments = append(m.segments, manifestEntry{id: id, size: s.segments[id].size, crc: s.segments[id].crc})
	}
	m.next = s.nextSegment
	if err := s.fsys.SyncDir(s.dir); err != nil {
		return unavailable("syncing the directory", err)
	}
	if err := image.appendTo(ctx, s.log.enqueue, s.log.wait); err != nil {
		return err
	}
	s.recovered = s.Durable()
	for _, id := range image.Others {
		s.segments[id].recovered = true
	}
	if err := s.noteEnd(s.recovered); err != nil {
		return err
	}
	return s.install(m)
}

// copyPiece is the number of bytes that copySegment writes at a time.
const copyPiece = 1 << 20

// copySegment writes a segment of an image to a file with the same id. The name of the file is
// durable after the next SyncDir.
func (s *Store) copySegment(ctx context.Context, from Segments, id SegmentID) (_ *segmentState, err error) {
	seg, err := from.OpenSegment(ctx, id)
	if err == nil {
		err = seg.Complete(ctx)
	}
	if err != nil {
		return nil, err
	}
	doing := fmt.Sprintf("copying segment %d", id)
	name := filename(s.dir, uint64(id), segmentExt)
	temp := name + tempExt
	f, err := createTemp(s.fsys, temp)
	if err != nil {
		return nil, unavailable(doing, err)
	}
	at := int64(0)
	for piece := range slices.Chunk(seg.mapping.Bytes(), copyPiece) {
		if err = ctx.Err(); err != nil {
			break
		}
		if _, err = f.WriteAt(piece, at); err != nil {
			break
		}
		at += int64(len(piece))
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = s.fsys.Rename(temp, name)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, unavailable(doing, err)
	}
	return &segmentState{known: true, size: seg.size, crc: seg.crc}, nil
}

// CreateSharedFrom makes a graph in shared storage with the content of an image. Its server is then
// the writer of the graph. The result `found` is the state that an open of the graph would find. The
// error is an *engine.Conflict if there is a graph already.
func CreateSharedFrom(ctx context.Context, opts SharedOptions, image *Image) (_ *Shared, found *Recovered, err error) {
	opts.leastEpoch = image.leastEpoch()
	s, err := OpenShared(ctx, opts)
	if err != nil {
		return nil, nil, err
	}
	if !s.Exists() {
		err = s.TakeOver(ctx)
	}
	if err == nil && s.Exists() {
		err = &engine.Conflict{Reason: "the shared storage already holds a graph under this prefix"}
	}
	if err == nil {
		err = s.fill(ctx, image)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, image.recovered(), nil
}

// fill uploads the content of an image. The segments come first, because a checkpoint and records
// may name only segments that are in the shared storage.
func (s *Shared) fill(ctx context.Context, image *Image) error {
	for _, id := range image.all() {
		seg, err := image.From.OpenSegment(ctx, id)
		if err == nil {
			err = seg.Complete(ctx)
		}
		if err != nil {
			return err
		}
		err = s.repeat(ctx, func() error {
			return s.opts.Bucket.Upload(ctx, s.opts.Prefix+objectName(id), bytes.NewReader(seg.mapping.Bytes()), seg.size)
		})
		if err != nil {
			return s.mapped(err)
		}
		s.mu.Lock()
		s.segments[id] = &sharedSegment{segmentState: segmentState{known: true, size: seg.size, crc: seg.crc}}
		s.mu.Unlock()
	}
	if err := s.Checkpoint(ctx, image.Manifest, 0, image.Listed); err != nil {
		return err
	}
	enqueue := func(kind uint8, payload []byte) (*Ticket, error) { return s.Enqueue(kind, payload) }
	if err := image.appendTo(ctx, enqueue, s.Wait); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recovered = s.nextLSN - 1
	for _, id := range image.Others {
		s.segments[id].recovered = true
	}
	return nil
}
