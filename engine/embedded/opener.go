package embedded

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// opener opens the segments of tables. Tables that share a segment share its mapping and the parts
// of it that were read. Segments in one file share the file's mapping.
type opener struct {
	files  *segmentFiles               // opens the segments that are not open yet
	ctx    context.Context             // ends the reads of files when it is done
	opened map[string]*segment.Segment // by segment.CacheKey
	mapped map[string]*store.Segment   // by name of the file
}

// opener returns an opener without open segments, which reads files until ctx is done.
func (f *segmentFiles) opener(ctx context.Context) *opener {
	return &opener{files: f, ctx: ctx, opened: map[string]*segment.Segment{}, mapped: map[string]*store.Segment{}}
}

// register records that a segment is open in a table of type t.
func (o *opener) register(t *schema.Type, s *segment.Segment) {
	if s.Name != "" && s.Origin == nil {
		o.opened[segment.CacheKey(t, s.Name)] = s
	}
}

// Segment opens a segment of rows of type t.
func (o *opener) Segment(t *schema.Type, name string) (*segment.Segment, error) {
	// The key includes the type: a segment of an older schema is read as the type that it was
	// stored as.
	key := segment.CacheKey(t, name)
	s := o.opened[key]
	if s == nil {
		src, err := o.Source(name)
		if err != nil {
			return nil, err
		}
		if s, err = segment.Open(t, name, src); err != nil {
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

// apply replays a record on a transaction. The parameter `rest` is the record's payload after its
// header.
func (o *opener) apply(tx *version.Txn, kind uint8, rest []byte) error {
	switch kind {
	case logrecord.KindRows:
		return tx.ApplyOps(rest)
	case logrecord.KindBulk:
		parts, late, err := version.ReadParts(rest, tx.Schema(), o.Segment)
		if err != nil {
			return err
		}
		if err := tx.PutSegments(parts); err != nil {
			return err
		}
		stored, ops, err := version.ReadLate(late)
		if err != nil {
			return err
		}
		for _, name := range stored {
			if err := o.files.readBlock(o.ctx, name, opsBlock, tx.ApplyOps); err != nil {
				return err
			}
		}
		return tx.ApplyOps(ops)
	case logrecord.KindSpilled:
		name, err := logrecord.ReadSpilled(rest)
		if err != nil {
			return err
		}
		return o.files.readBlock(o.ctx, name, opsBlock, tx.ApplyOps)
	case logrecord.KindSchema:
		return o.redoChange(tx, rest)
	}
	return &engine.Corrupt{Object: "log record", Detail: fmt.Sprintf("kind %d is unknown", kind)}
}

// redoChange replays a record that puts a schema in force. The parameter `payload` is the record's
// payload after its header.
func (o *opener) redoChange(tx *version.Txn, payload []byte) error {
	redo := func(change []byte) error {
		ch, ops, err := version.ReadChange(change, catalog.Decode)
		if err == nil {
			err = tx.Migrate(ch)
		}
		if err != nil {
			return err
		}
		return tx.ApplyOps(ops)
	}
	name, rest, err := version.ReadWhere(payload)
	switch {
	case err != nil:
		return err
	case name == "":
		return redo(rest)
	}
	return o.files.readBlock(o.ctx, name, changeBlock, redo)
}
