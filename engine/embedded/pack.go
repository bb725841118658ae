package embedded

import (
	"context"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
)

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
