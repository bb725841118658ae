package embedded

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// segmentFiles writes, opens and removes the segments of a graph. It has no state of its own:
// package store owns the files.
type segmentFiles struct {
	store store.Segments
	hold  *store.Hold // keeps the segments of a graph in shared storage from the collector; nil if none
}

// write stores a segment that is not published yet, and sets its name. Afterwards the rows of the
// segment are read from the mapped file, and the memory that they occupied is freed.
func (f *segmentFiles) write(ctx context.Context, t *schema.Type, s *segment.Segment) (store.SegmentID, error) {
	id, err := f.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		return s.Blocks(t, adder(w, func(block string) (cold, delta bool) { return s.Cold(t, block) }))
	})
	if err != nil {
		return id, err
	}
	s.Name = segmentName(id)
	if src, err := f.open(ctx, s.Name); err == nil {
		mapped(t, s, partOf(src, s.Name))
	}
	return id, nil
}

// adder returns a function that adds blocks to a segment. It compresses the cold blocks.
func adder(w *store.SegmentWriter, isCold func(block string) (cold, delta bool)) func(block string, data []byte) error {
	return func(block string, data []byte) error {
		if cold, delta := isCold(block); cold {
			return w.AddCold(block, data, delta)
		}
		return w.AddBlock(block, data)
	}
}

// writeDraft stores a segment that is not published yet. It returns the segment as mapped from the
// file.
func (f *segmentFiles) writeDraft(ctx context.Context, t *schema.Type, d *segment.Draft) (*segment.Segment, error) {
	id, err := f.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		return d.Blocks(t, adder(w, func(block string) (cold, delta bool) { return d.Cold(t, block) }))
	})
	if err != nil {
		return nil, err
	}
	src, err := f.open(ctx, segmentName(id))
	if err == nil {
		var s *segment.Segment
		if s, err = segment.Open(t, segmentName(id), partOf(src, segmentName(id))); err == nil {
			return s, nil
		}
	}
	f.discard([]store.SegmentID{id})
	return nil, err
}

// scratchFiles creates the temporary files of a load or of a rewrite.
type scratchFiles struct {
	ctx   context.Context // ends the writes when it is done
	store store.Segments  // holds the files
	used  atomic.Bool     // whether a file was begun
}

// create creates a temporary file of blocks.
func (f *scratchFiles) create(write func(add func(name string, data []byte) error) error) (column.Source, error) {
	f.used.Store(true)
	file, err := f.store.WriteScratch(f.ctx, func(w *store.SegmentWriter) error { return write(w.AddBlock) })
	if err != nil {
		return nil, err
	}
	return source{Segment: file}, nil
}

// free frees the space of the files on the disk. The load or rewrite must have ended, so that nothing
// refers to the files. If free were not called, the space would stay occupied until the next garbage
// collection, although the disk may be full.
func (f *scratchFiles) free() {
	if f.used.Load() {
		runtime.GC()
	}
}

// indexFiles returns the means to store indexes in files. The function Store calls `made` with the id
// of each segment that it wrote, unless `made` is nil.
func (f *segmentFiles) indexFiles(ctx context.Context, opts *Options, scratch *scratchFiles, made func(store.SegmentID)) *version.IndexFiles {
	return &version.IndexFiles{
		Least: opts.keepIndexes, Spill: opts.spillIndexes, Scratch: scratch.create,
		Open: f.rowOpener(ctx),
		Store: func(write func(w version.BlockWriter) error) (string, column.Source, error) {
			id, src, err := f.writeOpen(ctx, func(w *store.SegmentWriter) error { return write(w) })
			if err != nil {
				return "", nil, err
			}
			if made != nil {
				made(id)
			}
			return segmentName(id), src, nil
		},
	}
}

// textPart is the maximum size, in bytes, of the texts in one part of a text index that a
// checkpoint builds. The build uses about as much memory if words repeat as in ordinary texts.
const textPart = 128 << 20

// textFiles returns the functions that store text indexes in files. The function Store calls `made`
// with the id of each segment that it wrote.
func (f *segmentFiles) textFiles(ctx context.Context, opts *Options, made func(store.SegmentID)) *version.TextFiles {
	return &version.TextFiles{PartBytes: cmp.Or(opts.textPart, textPart), Open: f.rowOpener(ctx), Discard: f.discardNamed,
		Store: func(write func(to textindex.File) error) (textindex.Part, error) {
			id, src, err := f.writeOpen(ctx, func(w *store.SegmentWriter) error { return write(w) })
			if err != nil {
				return textindex.Part{}, err
			}
			made(id)
			return textindex.Part{Name: segmentName(id), Source: src}, nil
		},
	}
}

// rowOpener returns a function that opens segments of rows; see [version.IndexFiles].
func (f *segmentFiles) rowOpener(ctx context.Context) func(t *schema.Type, name string) (*segment.Segment, error) {
	return func(t *schema.Type, name string) (*segment.Segment, error) {
		// A cancelled call ends elsewhere, so this function ignores the cancellation. Its caller
		// would throw an error of this function, and then would not remove the segments that were
		// made.
		src, err := f.open(context.WithoutCancel(ctx), name)
		if err != nil {
			return nil, err
		}
		return segment.Open(t, name, partOf(src, name))
	}
}

// writeOpen stores a segment and opens it for reading.
func (f *segmentFiles) writeOpen(ctx context.Context, write func(w *store.SegmentWriter) error) (store.SegmentID, column.Source, error) {
	id, err := f.store.WriteSegment(ctx, write)
	if err != nil {
		return 0, nil, err
	}
	src, err := f.open(ctx, segmentName(id))
	if err != nil {
		f.discard([]store.SegmentID{id})
		return 0, nil, err
	}
	return id, partOf(src, segmentName(id)), nil
}

// mapVectors makes views read a stored graph of vectors from its file.
func (f *segmentFiles) mapVectors(ctx context.Context, g *vectorindex.Graph) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	src, err := f.open(ctx, g.Name())
	if err == nil {
		g.Map(partOf(src, g.Name()))
	}
	return err
}

// writePart stores the segment of a part, unless it is stored already.
func (f *segmentFiles) writePart(ctx context.Context, p version.Part) (store.SegmentID, error) {
	if p.Segment.Name != "" {
		return segmentID(p.Segment.Name)
	}
	return f.write(ctx, p.Type, p.Segment)
}

// writeOps stores operations.
func (f *segmentFiles) writeOps(ctx context.Context, ops []byte) (store.SegmentID, error) {
	return f.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return w.AddBlock(opsBlock, ops) })
}

// discardParts removes the segments of parts that no record will name.
func (f *segmentFiles) discardParts(parts []version.Part) {
	for _, p := range parts {
		f.discardNamed([]string{p.Segment.Name})
	}
}

// discardNamed does the work of discard for a list of segment names.
func (f *segmentFiles) discardNamed(names []string) {
	for _, name := range names {
		if id, err := segmentID(name); err == nil {
			f.discard([]store.SegmentID{id})
		}
	}
}

// discard removes segments that no record will list. If a removal fails, the file only takes space
// until the first checkpoint after the next Open.
func (f *segmentFiles) discard(segments []store.SegmentID) {
	for _, id := range segments {
		_ = f.store.RemoveSegment(id)
	}
}

// mapped replaces the rows of a stored segment with the mapped file, so that the memory of the rows
// is freed. A segment that cannot be mapped stays in memory.
func mapped(t *schema.Type, s *segment.Segment, src column.Source) {
	if m, err := segment.Open(t, s.Name, src); err == nil {
		m.Start = s.Start
		*s = *m
	}
}

// disown removes, from the indexes of the states, the names of segments that no longer exist.
func (f *segmentFiles) disown(after map[*version.Snapshot]*version.Snapshot) {
	sizes := f.store.Sizes()
	there := func(name string) bool {
		id, err := segmentID(name)
		_, ok := sizes[id]
		return ok && err == nil
	}
	for _, s := range after {
		for _, t := range s.Tables() {
			t.Disown(there)
		}
	}
}

// open opens the file that holds the named segment.
func (f *segmentFiles) open(ctx context.Context, name string) (*store.Segment, error) {
	id, err := segmentID(name)
	if err != nil {
		return nil, err
	}
	return f.store.OpenSegment(ctx, id)
}

// readBlock calls the function `use` with one block of a segment. The block may be mapped memory,
// so `use` must copy the bytes that it keeps.
func (f *segmentFiles) readBlock(ctx context.Context, name, block string, use func([]byte) error) error {
	seg, err := f.open(ctx, name)
	if err != nil {
		return err
	}
	b, err := seg.Block(block)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(seg)
	return use(b)
}

// segmentName returns the name of a stored segment in manifests and records.
func segmentName(id store.SegmentID) string { return strconv.FormatUint(uint64(id), 10) }

// segmentID returns the id of the file that holds a named segment.
func segmentID(name string) (store.SegmentID, error) {
	id, err := strconv.ParseUint(fileOf(name), 10, 64)
	if err != nil {
		return 0, &engine.Corrupt{Object: "log record or manifest", Detail: fmt.Sprintf("%q is not the name of a segment", name)}
	}
	return store.SegmentID(id), nil
}

// segmentIDs returns the ids of the named segments.
func segmentIDs(names map[string]bool) ([]store.SegmentID, error) {
	all := map[store.SegmentID]bool{}
	for name := range names {
		id, err := segmentID(name)
		if err != nil {
			return nil, err
		}
		all[id] = true
	}
	return slices.Collect(maps.Keys(all)), nil
}

const (
	// packRows and packBytes bound a segment of rows that shares a file with others. Each file
	// costs a few milliseconds and a page, and stays until no state needs any part of it.
	packRows  = 1 << 10
	packBytes = 16 << 10 // in bytes
	// packParts bounds the number of segments in one file.
	packParts = 256
)

// packer stores segments of rows. A checkpoint makes one segment for each branch that was
// written to; packer puts small segments of one type into one file. Part n of file f is called
// "f.n", and its blocks have the prefix "n/".
//
// All parts of a file have the same type. So when a property is dropped for good on every
// branch, no state needs a file that has values of it.
type packer struct {
	files   *segmentFiles                       // writes the files
	small   map[*schema.Type][]*segment.Segment // small segments that are not stored yet
	types   []*schema.Type                      // the keys of small, in order of arrival
	written []store.SegmentID                   // ids of the files written so far
}

// add stores a large segment at once. It keeps a small one until there are packParts of its type,
// or until finish is called.
func (p *packer) add(ctx context.Context, t *schema.Type, s *segment.Segment) error {
	if s.N > packRows || s.Bytes() > packBytes {
		return p.storeAlone(ctx, t, s)
	}
	if p.small == nil {
		p.small = map[*schema.Type][]*segment.Segment{}
	}
	list, known := p.small[t]
	if !known {
		p.types = append(p.types, t)
	}
	p.small[t] = append(list, s)
	if len(p.small[t]) < packParts {
		return nil
	}
	return p.pack(ctx, t)
}

// finish stores the small segments that the method `add` has kept.
func (p *packer) finish(ctx context.Context) error {
	for _, t := range p.types {
		if err := p.pack(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// storeAlone stores a segment in its own file.
func (p *packer) storeAlone(ctx context.Context, t *schema.Type, s *segment.Segment) error {
	id, err := p.files.write(ctx, t, s)
	if err == nil {
		p.written = append(p.written, id)
	}
	return err
}

// pack stores the kept segments of one type together in one file.
func (p *packer) pack(ctx context.Context, t *schema.Type) error {
	small := p.small[t]
	p.small[t] = nil
	switch len(small) {
	case 0:
		return nil
	case 1:
		return p.storeAlone(ctx, t, small[0])
	}
	id, err := p.files.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		for i, segment := range small {
			prefix := strconv.Itoa(i) + "/"
			add := adder(w, func(block string) (cold, delta bool) {
				return segment.Cold(t, strings.TrimPrefix(block, prefix))
			})
			err := segment.Blocks(t, func(name string, data []byte) error { return add(prefix+name, data) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.written = append(p.written, id)
	file, err := p.files.store.OpenSegment(ctx, id)
	for i, segment := range small {
		name := segmentName(id) + "." + strconv.Itoa(i)
		segment.Name = name
		if err == nil { // otherwise the segment stays in memory
			mapped(t, segment, partOf(file, name))
		}
	}
	return nil
}

// source is a segment. It is a whole file or one part of a file.
type source struct {
	*store.Segment
	prefix string // prefix of the names of the segment's blocks; empty for a whole file
}

// Block implements column.Source.
func (s source) Block(name string) ([]byte, error) { return s.Segment.Block(s.prefix + name) }

// Pieces implements column.Source.
func (s source) Pieces(name string) (column.Pieces, error) {
	return s.Segment.Pieces(s.prefix + name)
}

// partOf returns the source of the named segment.
func partOf(file *store.Segment, name string) column.Source {
	if _, part, ok := strings.Cut(name, "."); ok {
		return source{file, part + "/"}
	}
	return source{Segment: file}
}

// fileOf returns the name of the file that holds a named segment.
func fileOf(name string) string {
	file, _, _ := strings.Cut(name, ".")
	return file
}
