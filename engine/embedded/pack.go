package embedded

import (
	"context"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

const (
	// packRows and packBytes bound a segment of rows that shares a file with others. A
	// file costs a few milliseconds and a page; it stays until no state needs a part.
	packRows  = 1 << 10
	packBytes = 16 << 10
	// packParts bounds the segments of a file.
	packParts = 256
)

// packer stores segments of rows, small ones together: a checkpoint stores one for each
// branch that was written to. Part n of file f is called "f.n", and its blocks have the
// prefix "n/".
type packer struct {
	g     *Graph
	small []version.Part
	made  []store.SegmentID
}

// add stores a segment, or keeps it for a file with others: see finish.
func (p *packer) add(ctx context.Context, t *version.Type, s *version.Segment) error {
	if s.N > packRows || s.Bytes() > packBytes {
		id, err := p.g.storeSegment(ctx, t, s)
		if err == nil {
			p.made = append(p.made, id)
		}
		return err
	}
	if p.small = append(p.small, version.Part{Type: t, Segment: s}); len(p.small) < packParts {
		return nil
	}
	return p.finish(ctx)
}

// finish stores the segments that are kept.
func (p *packer) finish(ctx context.Context) error {
	small := p.small
	p.small = nil
	switch len(small) {
	case 0:
		return nil
	case 1:
		id, err := p.g.storeSegment(ctx, small[0].Type, small[0].Segment)
		if err == nil {
			p.made = append(p.made, id)
		}
		return err
	}
	id, err := p.g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		for i, part := range small {
			prefix := strconv.Itoa(i) + "/"
			add := adder(w, func(block string) (cold, delta bool) {
				return part.Segment.Cold(part.Type, strings.TrimPrefix(block, prefix))
			})
			err := part.Segment.Blocks(part.Type, func(name string, data []byte) error { return add(prefix+name, data) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.made = append(p.made, id)
	file, err := p.g.store.OpenSegment(ctx, id)
	for i, part := range small {
		name := segmentName(id) + "." + strconv.Itoa(i)
		part.Segment.Name = name
		if err == nil { // else it stays in memory
			p.g.mapped(part.Type, part.Segment, partOf(file, name))
		}
	}
	return nil
}

// mapped makes the rows of a segment that was stored those of the file, so that the
// memory in which it was made goes away. One that cannot be mapped stays in memory.
func (g *Graph) mapped(t *version.Type, s *version.Segment, src column.Source) {
	if m, err := version.ReadSegment(t, s.Name, src); err == nil {
		m.Start = s.Start
		*s = *m
	}
}

// packed is one segment of a file with several.
type packed struct {
	*store.Segment
	prefix string
}

func (p packed) Block(name string) ([]byte, error) { return p.Segment.Block(p.prefix + name) }

// partOf returns the source of the segment called name, which is the file or a part of it.
func partOf(file *store.Segment, name string) column.Source {
	if _, part, ok := strings.Cut(name, "."); ok {
		return packed{file, part + "/"}
	}
	return file
}

// fileOf returns the name of the file that has a segment.
func fileOf(name string) string {
	file, _, _ := strings.Cut(name, ".")
	return file
}
