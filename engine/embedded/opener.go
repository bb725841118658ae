package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// opener opens the segments of tables. Tables that share a segment share its mapping and the
// parts that were read of it. Segments in one file share the file's mapping.
type opener struct {
	files  *segmentFiles
	ctx    context.Context
	opened map[string]*version.Segment
	mapped map[string]*store.Segment
}

func (f *segmentFiles) opener(ctx context.Context) *opener {
	return &opener{files: f, ctx: ctx, opened: map[string]*version.Segment{}, mapped: map[string]*store.Segment{}}
}

// has registers a segment that is open in a table of type t.
func (o *opener) has(t *version.Type, s *version.Segment) {
	if s.Name != "" && s.Origin == nil {
		o.opened[version.SegmentKey(t, s.Name)] = s
	}
}

// Segment opens a segment of rows of type t.
func (o *opener) Segment(t *version.Type, name string) (*version.Segment, error) {
	// The key includes the type: a segment of an older schema is read as the type that it was
	// stored as.
	key := version.SegmentKey(t, name)
	s := o.opened[key]
	if s == nil {
		src, err := o.Source(name)
		if err != nil {
			return nil, err
		}
		if s, err = version.ReadSegment(t, name, src); err != nil {
			return nil, err
		}
		o.opened[key] = s
	}
	shared := *s // copied, because each table sets where its rows begin
	return &shared, nil
}

// Source opens any segment by name.
func (o *opener) Source(name string) (column.Source, error) {
	name, whole := fileOf(name), name
	file := o.mapped[name]
	if file == nil {
		var err error
		if file, err = o.files.open(o.ctx, name); err != nil {
			return nil, err
		}
		o.mapped[name] = file
	}
	return partOf(file, whole), nil
}
