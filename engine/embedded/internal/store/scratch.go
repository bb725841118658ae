package store

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// WriteScratch creates a temporary segment from the blocks that the function `write` adds. With it
// a caller can keep data on the disk instead of in memory. The segment has no name, so it cannot be
// opened again, and its space on the disk becomes free once nothing refers to the result. It is not
// durable. If the process ends while the file is being made, the next Open removes the file. A
// failure does not affect the log.
func (s *Store) WriteScratch(ctx context.Context, write func(w *SegmentWriter) error) (*Segment, error) {
	id, err := s.newSegmentID(ctx)
	if err != nil {
		return nil, err
	}
	seg, err := writeScratch(ctx, s.fsys, s.dir, id, write)
	if err != nil {
		s.noteFull(err)
	}
	return seg, err
}

// writeScratch writes and maps a temporary file in a directory, and removes its name.
func writeScratch(ctx context.Context, fsys fs.FS, dir string, id SegmentID, write func(w *SegmentWriter) error) (*Segment, error) {
	temp := filename(dir, uint64(id), segmentExt) + tempExt
	doing := fmt.Sprintf("writing temporary file %d", id)
	f, err := createTemp(fsys, temp)
	if err != nil {
		return nil, unavailable(doing, err)
	}
	// A mapping stays readable after the name of its file is removed. If the removal fails, the
	// next Open removes the file.
	defer func() { _ = fsys.Remove(temp) }()
	if err := fillScratch(ctx, f, id, doing, write); err != nil {
		return nil, err
	}
	return mapSegment(fsys, temp, id)
}

// fillScratch writes the segment and closes the file.
func fillScratch(ctx context.Context, f fs.File, id SegmentID, doing string, write func(w *SegmentWriter) error) error {
	if _, _, err := fillSegment(ctx, f, id, doing, write); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return unavailable(doing, err)
	}
	return ctx.Err()
}
