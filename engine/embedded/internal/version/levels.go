package version

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// The indexes of a table have levels. Level 0 holds their bases, which are built together. A
// checkpoint turns the overlays of all indexes into a further level once they have many entries; see
// [Table.addLevel]. A segment that holds a level has these blocks:
//
//	meta        format   1 byte
//	            type     entity (1 byte, 0 node, 1 edge), name (text)
//	            covered  numbers of ordinals and rows that this level and the earlier ones cover,
//	                     uvarints
//	            after    numbers of ordinals and rows that the earlier levels cover, uvarints; zeros
//	                     in level 0
//	            tuples   uvarint count; for each tuple its members: uvarint count, texts
//	            indexes  descriptors, see package index: of the ids; of each tuple; of
//	                     an edge's sources, then targets
//	k.*         the level of the ids
//	t0.* …      the level of each tuple
//	out.*, in.* the level of an edge's ends

// level says which part of a table one level of its indexes covers. Together with the earlier levels
// it covers the ordinals below `ords` and the rows with numbers below `rows`. Entities and rows
// after the last level are in the overlays of the indexes. Tables with the same level share one
// value.
type level struct {
	name    string // segment that holds the level; empty until it is stored
	file    string // file that the level was read from, if any
	ords    uint32 // number of ordinals that the level and the earlier ones cover
	rows    uint32 // number of rows that the level and the earlier ones cover
	entries int    // the greatest number of entries that one index has in the level
}

// covered returns the numbers of ordinals and rows that the levels cover.
func (x *Indexes) covered() (ords, rows uint32) {
	if n := len(x.levels); n > 0 {
		return x.levels[n-1].ords, x.levels[n-1].rows
	}
	return 0, 0
}

// Levels returns the number of levels of the indexes.
func (x *Indexes) Levels() int { return len(x.levels) }

// overlay returns the greatest number of entries in the overlay of an index.
func (x *Indexes) overlay() int {
	n := max(x.keys.Overlay(), x.out.Overlay())
	for i := range x.idx {
		n = max(n, x.idx[i].Overlay())
	}
	return n
}

// addLevel turns the overlays of the indexes into a new level if one of them has more than
// [index.LevelEntries] entries. The new level takes over the levels that [index.MergeFrom] names. If
// level 0 is among them, addLevel builds all indexes again, with the files f; see IndexFiles.reindex. The only
// possible error is that of the files.
func (t *Table) addLevel(f *IndexFiles) error {
	n := t.overlay()
	if n <= index.LevelEntries {
		return nil
	}
	if len(t.levels) == 0 { // the table is new, or an earlier schema had other tuples
		if uint32(n) <= t.next/(1+index.LevelGrowth) {
			return nil
		}
		_, err := f.reindex(t)
		return err
	}
	entries := make([]int, len(t.levels))
	for i, l := range t.levels {
		entries[i] = l.entries
	}
	from := index.MergeFrom(entries, n)
	if from == 0 {
		_, err := f.reindex(t)
		return err
	}
	idx, hashes := slices.Clone(t.idx), hashes(&t.Rows)
	tasks := []func(){func() { t.keys.AddLevel(from, &t.rows, t.next, nil) }}
	for i := range idx {
		tasks = append(tasks, func() { idx[i].AddLevel(from, &t.rows, t.next, hashes[1+i]) })
	}
	if t.Type.Entity == plan.Edge {
		tasks = append(tasks, func() { t.out.AddLevel(from, &t.rows) }, func() { t.in.AddLevel(from, &t.rows) })
	}
	parallel.Do(tasks...)
	t.idx = idx
	l := &level{ords: t.next, rows: t.base + uint32(len(t.tail))}
	l.entries = t.entries(from)
	t.levels = append(t.levels[:from:from], l)
	return nil
}

// entries returns the greatest number of entries that one index has in a level.
func (t *Table) entries(level int) int {
	if level == 0 {
		return int(t.levels[0].ords)
	}
	n := t.keys.Records(level)
	for i := range t.idx {
		n = max(n, t.idx[i].Records(level))
	}
	if t.Type.Entity == plan.Edge {
		n = max(n, t.out.Records(level), t.in.Records(level))
	}
	return n
}

// storedLevels returns the first levels of the indexes, up to one that is not stored.
func (x *Indexes) storedLevels() []*level {
	n := slices.IndexFunc(x.levels, func(l *level) bool { return l.name == "" })
	if n < 0 {
		n = len(x.levels)
	}
	return x.levels[:n]
}

// levelOf implements [Unstored] for a level of a table's indexes.
type levelOf struct {
	t      *Table
	number int // number of the level
}

// Cold reports whether a block should be compressed. Blocks that are read in place are not
// compressed. Only the id index of an edge type is cold, because queries find edges by their nodes.
// The result `delta` says that the numbers of the block ascend; it is always false here.
func (ix levelOf) Cold(block string) (cold, delta bool) {
	return ix.t.Type.Entity == plan.Edge && strings.HasPrefix(block, "k."), false
}

// Named implements Unstored.
func (ix levelOf) Named(name string) { ix.t.levels[ix.number].name = name }

// Blocks implements Unstored.
func (ix levelOf) Blocks(add func(name string, data []byte) error) error {
	t, n := ix.t, ix.number
	meta := ix.meta()
	meta = t.keys.AppendDescriptor(meta, n)
	for i := range t.idx {
		meta = t.idx[i].AppendDescriptor(meta, n)
	}
	if t.Type.Entity == plan.Edge {
		meta = t.out.AppendDescriptor(meta, n)
		meta = t.in.AppendDescriptor(meta, n)
	}
	if err := add("meta", meta); err != nil {
		return err
	}
	if err := t.keys.Blocks(n, "k", add); err != nil {
		return err
	}
	for i := range t.idx {
		if err := t.idx[i].Blocks(n, "t"+strconv.Itoa(i), add); err != nil {
			return err
		}
	}
	if t.Type.Entity != plan.Edge {
		return nil
	}
	if err := t.out.Blocks(n, "out", add); err != nil {
		return err
	}
	return t.in.Blocks(n, "in", add)
}

// openLevel adds a level of the indexes, from a segment, after the levels that the table has. The
// blocks of the segment are read on first use. openLevel returns false if the tuples in the segment
// differ from those of the type; the caller then rebuilds the indexes. The error is a *engine.Corrupt.
func (t *Table) openLevel(name string, src column.Source) (same bool, err error) {
	corrupt := func(text string, args ...any) (bool, error) {
		return false, &engine.Corrupt{Object: src.Name(), Detail: fmt.Sprintf(text, args...)}
	}
	meta, err := src.Block("meta")
	if err != nil {
		return false, err
	}
	r := &codec.Reader{Rest: meta}
	number := uint32(r.Byte())
	if err := format.Index.Check(src.Name(), "", number); r.Err == nil && err != nil {
		return false, err
	}
	entity, typeName := r.Byte(), r.Text()
	l := &level{name: name, file: src.Name(), ords: r.Ordinal(), rows: r.Ordinal()}
	var ords, rows uint32
	if number >= 6 {
		ords, rows = r.Ordinal(), r.Ordinal()
	}
	same = schema.SameTuples(r, t.Type)
	switch wantOrds, wantRows := t.covered(); {
	case r.Err != nil:
		return corrupt("block meta is truncated")
	case entity != byte(t.Type.Entity) || typeName != t.Type.Name:
		return corrupt("it indexes %s, expected %s", typeName, t.Type.Name)
	case !same:
		return false, nil
	case ords != wantOrds || rows != wantRows || l.ords < ords || l.rows < rows:
		return corrupt("the index covers %d to %d ordinals and %d to %d rows, but the index before it covers %d ordinals and %d rows", ords, l.ords, rows, l.rows, wantOrds, wantRows)
	}
	n, ok := len(t.levels), true
	hash := func(x *index.Hash, name string) {
		switch {
		case !ok:
		case n > 0:
			r.Rest, ok = x.OpenLevel(r.Rest, name, src, l.ords)
		default:
			*x, r.Rest, ok = index.OpenHash(r.Rest, name, src)
			ok = ok && x.Covered() == l.ords
		}
	}
	hash(&t.keys, "k")
	for i := range t.idx {
		hash(&t.idx[i], "t"+strconv.Itoa(i))
	}
	ends := func(a *index.Adjacency, name string) {
		switch {
		case !ok:
		case n > 0:
			r.Rest, ok = a.OpenLevel(r.Rest, name, src, l.ords)
		default:
			*a, r.Rest, ok = index.OpenAdjacency(r.Rest, name, src)
			_, _, edges := a.Bounds()
			ok = ok && edges <= l.ords
		}
	}
	if t.Type.Entity == plan.Edge {
		ends(&t.out, "out")
		ends(&t.in, "in")
	}
	if !ok || len(r.Rest) > 0 {
		return corrupt("the descriptors in block meta do not fit %d ordinals", l.ords)
	}
	t.levels = append(t.levels, l)
	l.entries = t.entries(n)
	return true, nil
}
