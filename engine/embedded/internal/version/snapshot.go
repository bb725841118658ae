// Package version implements the states of a graph: immutable snapshots, and the transactions that derive one from another.
package version

import (
	"slices"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Snapshot is an immutable state of a graph, the result of one commit. Any number of
// goroutines may read it concurrently, for as long as they hold it.
type Snapshot struct {
	Commit engine.Commit  // the commit that made the state
	Schema *schema.Schema // the schema of the state
	nodes  []*Table       // in the order of Schema.Nodes
	edges  []*Table       // in the order of Schema.Edges
	line   *line          // the lineage of the state
	size   atomic.Uint64  // number of entities of all types plus one; 0 until they are counted
}

// line identifies a lineage: transactions that follow one another from a snapshot. Only
// transactions of a table's lineage may append to its tail in place, because tables of two
// lineages may share the start of a tail. Lines are compared by address; each line has an address
// of its own because it contains a byte.
type line struct{ _ byte }

// NewSnapshot returns the empty state with a schema.
func NewSnapshot(s *schema.Schema, c engine.Commit) *Snapshot {
	snap := &Snapshot{Commit: c, Schema: s, line: new(line)}
	for _, t := range s.Nodes {
		snap.nodes = append(snap.nodes, newTable(t))
	}
	for _, t := range s.Edges {
		snap.edges = append(snap.edges, newTable(t))
	}
	return snap
}

// Fork returns the same state with a lineage of its own, for transactions of another
// branch. It shares every table with s.
func (s *Snapshot) Fork() *Snapshot {
	return &Snapshot{Commit: s.Commit, Schema: s.Schema, nodes: s.nodes, edges: s.edges, line: new(line)}
}

// As returns the same state as the state of another commit.
func (s *Snapshot) As(c engine.Commit) *Snapshot {
	f := s.Fork()
	f.Commit = c
	return f
}

// Nodes returns the table of node type i.
func (s *Snapshot) Nodes(i int) *Table { return s.nodes[i] }

// Edges returns the table of edge type i.
func (s *Snapshot) Edges(i int) *Table { return s.edges[i] }

// Table returns the table of type i of an entity kind.
func (s *Snapshot) Table(e plan.Entity, i int) *Table {
	if e == plan.Edge {
		return s.edges[i]
	}
	return s.nodes[i]
}

// Ends returns the node ordinals of a live edge. It throws a fault unless both are within their
// node tables, so callers may use them as array indexes; see package corruption.
func (s *Snapshot) Ends(t *Table, ord uint32) (src, dst uint32) {
	return t.endsWithin(t.rows.Get(ord), s.nodes[t.Type.From], s.nodes[t.Type.To])
}

// Tables lists all tables: nodes in schema order, then edges.
func (s *Snapshot) Tables() []*Table { return slices.Concat(s.nodes, s.edges) }

// Size returns the number of entities of all types. It caches the number, since every read
// calls it.
func (s *Snapshot) Size() uint64 {
	if n := s.size.Load(); n > 0 {
		return n - 1
	}
	var n uint64
	for _, t := range s.nodes[:s.Schema.Declared()] {
		n += uint64(t.live)
	}
	for _, t := range s.edges {
		n += uint64(t.live)
	}
	s.size.Store(n + 1)
	return n
}

// Counts returns the commit and the number of entities of each type.
func (s *Snapshot) Counts() *engine.Snapshot {
	out := &engine.Snapshot{Commit: s.Commit}
	for _, t := range s.nodes[:s.Schema.Declared()] {
		out.Nodes = append(out.Nodes, engine.TypeCount{Type: t.Type.Name, Count: int64(t.live)})
	}
	for _, t := range s.edges {
		out.Edges = append(out.Edges, engine.TypeCount{Type: t.Type.Name, Count: int64(t.live)})
	}
	return out
}
