package version

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// Checkpoint collects the flushes of tables, and builds the snapshots that use the flushed
// segments. Several snapshots may share a table.
type Checkpoint struct {
	// Files makes temporary files and stores the indexes, if the indexes of a large table must be
	// built again. Without it, they are built in memory. Snapshot throws the errors of Files; see
	// package corruption.
	Files *IndexFiles

	flushes map[*Table]Flush  // by table: the segment that replaces its last rows
	tables  map[*Table]*Table // by table: its flushed form, or itself if there is nothing to flush
}

// Flush makes a segment of the rows of a table that no stored segment holds. It does so
// once per table; ok is false if nothing needs storing. The caller must store and name the
// segment before it calls Snapshot.
func (c *Checkpoint) Flush(t *Table) (f Flush, ok bool, err error) {
	if _, seen := c.tables[t]; seen {
		return Flush{}, false, nil
	}
	if f, ok, err = t.Flush(); err != nil {
		return Flush{}, false, err
	}
	if c.tables == nil {
		c.flushes, c.tables = map[*Table]Flush{}, map[*Table]*Table{}
	}
	c.tables[t] = t
	if ok {
		c.flushes[t], c.tables[t] = f, nil
	}
	return f, ok, nil
}

// FlushEarlier is Flush for a table of an earlier state. The rows of such a table may be part of a
// flush that the checkpoint already has.
func (c *Checkpoint) FlushEarlier(t *Table) (f Flush, ok bool, err error) {
	if _, seen := c.tables[t]; seen {
		return Flush{}, false, nil
	}
	for of := range c.flushes {
		// Tables of one lineage have tails with a common prefix. Tables without a lineage, such as
		// tables carried to another schema, may have different tails.
		if t.line != nil && of.Type == t.Type && of.line == t.line && len(t.tail) <= len(of.tail) && slices.Equal(of.Segs, t.Segs) {
			then, n := c.table(of), *t
			n.Segs, n.base, n.tail = then.Segs, then.base, nil
			c.tables[t] = &n
			return Flush{}, false, nil
		}
	}
	return c.Flush(t)
}

// Snapshot returns the snapshot with the flushed rows in their segments. Tables that were
// shared before are still shared.
func (c *Checkpoint) Snapshot(s *Snapshot) *Snapshot {
	out := &Snapshot{Commit: s.Commit, Schema: s.Schema, nodes: slices.Clone(s.nodes), edges: slices.Clone(s.edges), line: s.line}
	for _, list := range [][]*Table{out.nodes, out.edges} {
		for i, t := range list {
			list[i] = c.table(t)
		}
	}
	return out
}

// Adopt returns s with the flushed rows in their segments. s must be a later snapshot of the
// lineage of `captured`.
func (c *Checkpoint) Adopt(captured, s *Snapshot) *Snapshot {
	out := &Snapshot{Commit: s.Commit, Schema: s.Schema, nodes: slices.Clone(s.nodes), edges: slices.Clone(s.edges), line: s.line}
	adopt := func(list, before []*Table) {
		for i, t := range before {
			if f, ok := c.flushes[t]; ok {
				list[i] = f.adopt(list[i], c.table(t))
			}
		}
	}
	adopt(out.nodes, captured.nodes)
	adopt(out.edges, captured.edges)
	return out
}

// table returns the table that replaces t after the checkpoint's flushes.
func (c *Checkpoint) table(t *Table) *Table {
	flushed, seen := c.tables[t]
	switch {
	case !seen:
		return t
	case flushed == nil:
		var err error
		if flushed, err = c.flushes[t].table(c.Files); err != nil {
			corruption.Throw(err)
		}
		c.tables[t] = flushed
	}
	return flushed
}
