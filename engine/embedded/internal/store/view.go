package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	// viewAttempts is the number of times that OpenView reads a directory. An attempt fails if the
	// process that writes the directory makes a checkpoint meanwhile.
	viewAttempts = 20

	// viewPause is the time between two attempts.
	viewPause = 50 * time.Millisecond
)

// errView is the error of calls that would change a [View].
var errView error = &engine.Unavailable{Reason: "the graph is open for reading only"}

// View is the state of a directory at one moment. It implements [Storage], but all methods that
// write fail. OpenView takes no lock, so another process may have the directory open and write
// to it. The View maps all segments when it is opened, so it stays readable after that process has
// removed their files.
type View struct {
	durable uint64 // LSN of the last record

	mu       sync.Mutex
	segments map[SegmentID]*Segment // all segments of the directory
	used     map[SegmentID]bool     // the segments that the manifest lists or that were opened
}

var _ Storage = (*View)(nil)

// OpenView reads the directory of a graph. The state contains every record that was durable when
// OpenView was called, and maybe later ones. It can even contain a record that is written but not
// durable yet. The error is an *engine.NotFound if dir contains no store, an *engine.Corrupt, or an
// *engine.Unavailable if the directory changed during each attempt.
func OpenView(ctx context.Context, fsys fs.FS, dir string) (v *View, found *Recovered, err error) {
	for attempt := 1; ; attempt++ {
		var changed bool
		v, found, changed, err = openView(ctx, fsys, dir)
		if err == nil && !changed || ctx.Err() != nil {
			return v, found, err
		}
		var missing *engine.NotFound
		if errors.As(err, &missing) || errors.Is(err, fs.ErrNotRegular) {
			return nil, nil, err // no store puts a link or a pipe in the place of a file, so waiting does not help
		}
		if attempt == viewAttempts {
			if err == nil || changed {
				err = &engine.Unavailable{Reason: fmt.Sprintf("the folder %s changed each time that this process read it; try again when fewer writes run", dir)}
			}
			return nil, nil, err
		}
		// Also after a fault: this process may have read a file while the other one wrote it.
		timer := time.NewTimer(viewPause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// openView makes one attempt. The result `changed` reports that a checkpoint was made meanwhile, so
// that the other results are not valid.
func openView(ctx context.Context, fsys fs.FS, dir string) (_ *View, _ *Recovered, changed bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	newest, err := newestManifest(fsys, dir)
	if err != nil {
		return nil, nil, false, err
	}
	v, found, err := readView(ctx, fsys, dir, newest)
	// Files of this manifest are removed, and log files are recycled, only after a newer manifest
	// is there. So if the newest manifest is still the same, all files were read in time.
	again, listed := newestManifest(fsys, dir)
	if listed != nil {
		return nil, nil, false, listed
	}
	return v, found, again != newest, err
}

// newestManifest returns the number of the newest manifest in a directory.
func newestManifest(fsys fs.FS, dir string) (uint64, error) {
	names, err := fsys.List(dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return 0, &engine.NotFound{What: "graph directory", Name: dir}
	case err != nil:
		return 0, unavailable("listing the directory", err)
	}
	manifests := classify(names).manifests
	if len(manifests) == 0 {
		return 0, &engine.NotFound{What: "graph in directory", Name: dir}
	}
	return manifests[len(manifests)-1], nil
}

// readView reads the state that begins with a manifest.
func readView(ctx context.Context, fsys fs.FS, dir string, number uint64) (*View, *Recovered, error) {
	m, err := readManifest(fsys, dir, number)
	if err != nil {
		return nil, nil, err
	}
	// END is read before the log, so the log contains the record that END names.
	end, err := readEnd(fsys, dir, m)
	if err != nil {
		return nil, nil, err
	}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, nil, unavailable("listing the directory", err)
	}
	_, scans, err := readLogs(ctx, fsys, dir, classify(names).logs, m.upTo, end)
	if err != nil {
		return nil, nil, err
	}
	v := &View{segments: map[SegmentID]*Segment{}, used: map[SegmentID]bool{}}
	rec := &Recovered{ManifestLSN: m.upTo, Manifest: m.payload}
	for _, scan := range scans {
		for _, r := range scan.records {
			if r.LSN > m.upTo {
				rec.Records = append(rec.Records, r)
			}
		}
		v.durable = scan.next - 1
	}
	for _, e := range m.segments {
		seg, err := mapSegment(fsys, filename(dir, uint64(e.id), segmentExt), e.id)
		if err != nil {
			return nil, nil, err
		}
		if e.size != seg.size || e.crc != seg.crc {
			return nil, nil, &engine.Corrupt{Object: seg.name, Detail: fmt.Sprintf(
				"the segment has %d bytes and footer checksum %08x, but the manifest gives %d bytes and checksum %08x", seg.size, seg.crc, e.size, e.crc)}
		}
		v.segments[e.id], v.used[e.id] = seg, true
		rec.Segments = append(rec.Segments, e.id)
	}
	return v, rec, v.mapOthers(ctx, fsys, dir)
}

// mapOthers maps the segments that the manifest does not list, because a record may name them. It
// lists the directory after the log was read. A segment that no record names may be removed at any
// time.
func (v *View) mapOthers(ctx context.Context, fsys fs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return unavailable("listing the directory", err)
	}
	for _, number := range classify(names).segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := SegmentID(number)
		if v.segments[id] != nil {
			continue
		}
		seg, err := mapSegment(fsys, filename(dir, number, segmentExt), id)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		v.segments[id] = seg
	}
	return nil
}

// OpenSegment implements [Storage].
func (v *View) OpenSegment(ctx context.Context, id SegmentID) (*Segment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	seg := v.segments[id]
	if seg == nil {
		return nil, &engine.NotFound{What: "segment", Name: filename("", uint64(id), segmentExt)}
	}
	v.used[id] = true
	return seg, nil
}

// Sizes implements [Storage]. It lists the segments that the manifest lists or that were opened.
func (v *View) Sizes() map[SegmentID]int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	sizes := make(map[SegmentID]int64, len(v.used))
	for id := range v.used {
		sizes[id] = v.segments[id].size
	}
	return sizes
}

// Verify implements [Storage]. It reads the segments that Sizes lists.
func (v *View) Verify(ctx context.Context) error {
	faults := &faultList{}
	for _, id := range slices.Sorted(maps.Keys(v.Sizes())) {
		seg := v.segments[id]
		content := bytes.NewReader(seg.mapping.Bytes())
		for _, block := range seg.names {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := seg.blocks[block].read(content, seg.name); err != nil {
				faults.add(err)
			}
		}
	}
	return faults.join()
}

// Durable implements [Storage].
func (v *View) Durable() uint64 { return v.durable }

// Failure implements [Storage].
func (v *View) Failure() error { return errView }

// MustReopen implements [Storage].
func (v *View) MustReopen() bool { return false }

// Full implements [Storage].
func (v *View) Full() bool { return false }

// FullSignal implements [Storage]. The channel never receives a value.
func (v *View) FullSignal() <-chan struct{} { return nil }

// Retry implements [Storage].
func (v *View) Retry() error { return nil }

// Close implements [Storage].
func (v *View) Close() error { return nil }

// Reserve implements [Storage].
func (v *View) Reserve(int) error { return errView }

// Enqueue implements [Storage].
func (v *View) Enqueue(uint8, []byte, ...SegmentID) (*Ticket, error) { return nil, errView }

// Wait implements [Storage].
func (v *View) Wait(*Ticket) error { return errView }

// WriteSegment implements [Storage].
func (v *View) WriteSegment(context.Context, func(*SegmentWriter) error) (SegmentID, error) {
	return 0, errView
}

// RemoveSegment implements [Storage].
func (v *View) RemoveSegment(SegmentID) error { return errView }

// WriteScratch implements [Storage].
func (v *View) WriteScratch(context.Context, func(*SegmentWriter) error) (*Segment, error) {
	return nil, errView
}

// Checkpoint implements [Storage].
func (v *View) Checkpoint(context.Context, []byte, uint64, []SegmentID) error { return errView }

// Rewrite implements [Storage].
func (v *View) Rewrite(context.Context, []byte, uint64, []SegmentID) error { return errView }
