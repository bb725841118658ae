package version

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// describeEnd returns a function that returns an EndValue of an end of type t as a conflict message shows it.
func describeEnd(t *schema.Type) func(v value.Value) string {
	if t.Of == nil {
		return describe
	}
	return func(v value.Value) string { return t.Spell(t.EndID(v)) }
}

// Referent returns the node that a reference stands for. It throws a fault if there is no such node; see
// package corruption.
func (s *Snapshot) Referent(t *schema.Type, ref uint32) (*schema.Type, uint32) {
	name, id := schema.SplitRef(s.nodes[t.Index].ID(ref))
	if node := s.Schema.Type(plan.Node, name); node != nil {
		if ord, ok := s.nodes[node.Index].Lookup(id); ok {
			return node, ord
		}
	}
	corruption.Corrupt(t.Name, "a reference stands for %s %q, which does not exist", name, id)
	return nil, 0
}

// ReferenceTo returns the reference that stands for a live node. It reports false if no edge has needed it.
func (s *Snapshot) ReferenceTo(t, node *schema.Type, ord uint32) (ref uint32, ok bool) {
	return s.nodes[t.Index].Lookup(schema.RefID(node.Name, s.nodes[node.Index].ID(ord)))
}

// LookupEnd finds the entity of a node type with an id, for an end of an edge. If it is a reference that no edge has
// needed, but its node exists, LookupEnd creates it.
func (tx *Txn) LookupEnd(t *schema.Type, id string) (ord uint32, ok bool) {
	if ord, ok = tx.Table(t).Lookup(id); ok || t.Of == nil {
		return ord, ok
	}
	name, nodeID := schema.SplitRef(id)
	node := tx.base.Schema.Type(plan.Node, name)
	if node == nil || !t.Implements(node) {
		return 0, false
	}
	if _, ok := tx.Table(node).Lookup(nodeID); !ok {
		return 0, false
	}
	ord, _ = tx.Put(t, Row{ID: id})
	return ord, true
}

// referenceTo returns the reference that stands for a live node of the transaction.
func (tx *Txn) referenceTo(t, node *schema.Type, ord uint32) (ref uint32, ok bool) {
	return tx.Table(t).Lookup(schema.RefID(node.Name, tx.Table(node).ID(ord)))
}

// eachEnd calls `yield` with each entity that stands for a live node at ends of edges: the node itself, and its
// references.
func (tx *Txn) eachEnd(t *schema.Type, ord uint32, yield func(t *schema.Type, ord uint32)) {
	yield(t, ord)
	for _, i := range t.Refs {
		of := tx.base.Schema.Nodes[i]
		if ref, ok := tx.referenceTo(of, t, ord); ok {
			yield(of, ref)
		}
	}
}

// dropReferences removes the references to nodes of a type that do not exist. The edges at these references
// lose an end; see [Txn.Orphan].
func (tx *Txn) dropReferences(t *schema.Type) {
	nodes := tx.Table(t)
	for _, i := range t.Refs {
		of := tx.base.Schema.Nodes[i]
		refs := tx.Table(of)
		for ref := range refs.next {
			if !refs.Alive(ref) {
				continue
			}
			name, id := schema.SplitRef(refs.ID(ref))
			if name != t.Name {
				continue
			}
			if _, ok := nodes.Lookup(id); !ok {
				tx.edit(of).delete(ref)
				refs = tx.Table(of)
			}
		}
	}
}

// carryReferences adapts a state that was carried to its schema: references to nodes of a type that was
// renamed get new ids, and references to nodes of other types than the present ones of the interface are
// removed with their edges. It returns the state, and by edge type the sources of the edges that were
// removed. The schema `from` is the previous one.
func (s *Snapshot) carryReferences(from *schema.Schema, c *schema.Carry) (*Snapshot, map[*schema.Type][]uint32) {
	tx := Begin(s)
	lost := map[*schema.Type][]uint32{}
	for _, t := range s.Schema.Nodes[s.Schema.Declared():] {
		if c.Nodes[t.Index].From < 0 {
			continue
		}
		old := from.Nodes[c.Nodes[t.Index].From]
		now := c.Members(old, t, s.Schema)
		if len(now) < len(old.Of.Members) {
			tx.removeReferences(t, lost, func(ref string) bool { return now.Gone(ref) })
		}
		if now.Renamed() {
			tx.renameReferences(t, now)
		}
	}
	out := tx.Commit(s.Commit)
	out.line = s.line
	return out, lost
}

// moveEnds adds edges whose ends a schema change gave other types: `moved` has the carried tables, in which the ends are entities
// of the state before. Edges keep their ordinals; those whose nodes cannot be at the new ends are left out, and their sources are
// added to `lost`.
func (s *Snapshot) moveEnds(before *Snapshot, c *schema.Carry, moved map[*schema.Type]*Table, lost map[*schema.Type][]uint32) *Snapshot {
	tx := Begin(s)
	for i, typ := range s.Schema.Edges {
		edges := moved[typ]
		if edges == nil {
			continue
		}
		old := before.Schema.Edges[c.Edges[i].From]
		end := func(target bool) func(ord uint32) (uint32, bool) {
			was, is := before.Schema.EndType(old, target), s.Schema.EndType(typ, target)
			names := c.AtEnd(before.Schema, s.Schema, was, is)
			return func(ord uint32) (uint32, bool) {
				name, id := was.Label(before.nodes[was.Index].ID(ord))
				if name = names[name]; name == "" {
					return 0, false
				}
				if is.Of != nil {
					return tx.LookupEnd(is, schema.RefID(name, id))
				}
				return tx.LookupEnd(is, id)
			}
		}
		source, target := end(false), end(true)
		for ord := range edges.next {
			if !edges.Alive(ord) {
				tx.edit(typ).skip()
				continue
			}
			row := Row{ID: strings.Clone(edges.ID(ord)), Stamp: edges.Stamp(ord), Claims: strings.Clone(edges.Claims(ord)), Vals: slices.Clone(edges.Values(ord))} // a checkpoint may read the shared values
			for p, v := range row.Vals {
				row.Vals[p] = Detached(v)
			}
			src, dst := edges.Ends(ord)
			var from, to bool
			row.Src, from = source(src)
			if row.Dst, to = target(dst); from && to {
				tx.edit(typ).add(row)
				continue
			}
			if from {
				lost[typ] = append(lost[typ], row.Src)
			}
			tx.edit(typ).skip()
		}
	}
	out := tx.Commit(s.Commit)
	out.line = s.line
	return out
}

// removeReferences removes the references whose id `gone` selects, and their edges. It adds the sources of
// these edges to `lost`.
func (tx *Txn) removeReferences(t *schema.Type, lost map[*schema.Type][]uint32, gone func(ref string) bool) {
	refs := tx.Table(t)
	for ref := range refs.next {
		if !refs.Alive(ref) || !gone(refs.ID(ref)) {
			continue
		}
		tx.eachEdge(t, ref, func(typ *schema.Type, edge uint32) {
			src, _ := tx.Table(typ).Ends(edge)
			lost[typ] = append(lost[typ], src)
			tx.edit(typ).delete(edge)
		})
		tx.edit(t).delete(ref)
		refs = tx.Table(t)
	}
}

// renameReferences gives the references the present names of the types. They keep their ordinals.
func (tx *Txn) renameReferences(t *schema.Type, now schema.MemberNames) {
	e := tx.edit(t)
	old := *e.Table
	*e.Table = *newTable(t)
	for ord := range old.next {
		if !old.Alive(ord) {
			tx.edit(t).skip()
			continue
		}
		name, id := schema.SplitRef(old.ID(ord))
		e.add(Row{ID: schema.RefID(now[name], id)})
	}
}

// EdgesAt calls `yield` with each live edge at a live node, also with those at the references to the node. The function may
// delete the edge.
func EdgesAt(tx *Txn, t *schema.Type, ord uint32, yield func(typ *schema.Type, edge uint32)) {
	tx.eachEnd(t, ord, func(end *schema.Type, ord uint32) { tx.eachEdge(end, ord, yield) })
}

// eachEdge calls `yield` with each live edge at an entity of a node type. It yields an edge from the entity
// to itself once.
func (tx *Txn) eachEdge(t *schema.Type, ord uint32, yield func(typ *schema.Type, edge uint32)) {
	visit := func(et int, pick func(*Table) *index.Adjacency) {
		typ := tx.base.Schema.Edges[et]
		tab := tx.Table(typ)
		for _, edge := range LiveEdges(tab, pick(tab), ord) {
			yield(typ, edge)
		}
	}
	for _, et := range t.Out {
		visit(et, (*Table).Out)
	}
	for _, et := range t.In {
		visit(et, (*Table).In)
	}
}

// Edges calls `yield` once with each live edge at a node, also with those at an interface. The function must not change the
// transaction.
func (tx *Txn) Edges(t *schema.Type, ord uint32, yield func(t *schema.Type, edge uint32)) {
	type place struct {
		t    *schema.Type
		edge uint32
	}
	seen := map[place]bool{} // an edge may lead back to its node
	tx.eachEnd(t, ord, func(end *schema.Type, ord uint32) {
		tx.eachEdge(end, ord, func(t *schema.Type, edge uint32) {
			if at := (place{t, edge}); !seen[at] {
				seen[at] = true
				yield(t, edge)
			}
		})
	})
}
