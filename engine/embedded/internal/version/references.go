package version

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// An edge type with an interface at an end joins nodes of several types, but the ends of an edge in a
// table are ordinals of one node table. So each such interface has a reference type, a node type that the
// catalog does not have. An entity of it, a reference, stands for one node of a type that implements the
// interface; its id is [RefID] of this node, and it has no properties. The first edge at a node creates
// the reference, and the removal of the node removes it. All files, records and indexes treat reference
// types as node types. Nothing outside the engine sees them.

// RefID returns the id of the reference that stands for a node. Names of types contain no NUL.
func RefID(typ, id string) string { return typ + "\x00" + id }

// SplitRef is the inverse of RefID.
func SplitRef(ref string) (typ, id string) {
	typ, id, _ = strings.Cut(ref, "\x00")
	return typ, id
}

// NodeTypes returns the node types that the catalog declares, in schema order.
func (s *Schema) NodeTypes() []*Type { return s.Nodes[:s.declared] }

// Reference returns the reference type of an interface, or nil if the interface is at no end of an edge type.
func (s *Schema) Reference(name string) *Type { return s.references[name] }

// resolveReferences adds a reference type for each interface that is at an end of an edge type.
func (s *Schema) resolveReferences() {
	s.references = map[string]*Type{}
	for _, e := range s.Catalog.Edges {
		for _, to := range []bool{false, true} {
			name, isInterface := e.End(to)
			of := s.interfaces[name]
			if !isInterface || of == nil || s.references[name] != nil {
				continue
			}
			t := &Type{Entity: plan.Node, Index: len(s.Nodes), Name: "interface " + name, IDProp: -1, Of: of, node: &catalog.Node{}}
			t.names()
			for _, m := range of.Members {
				m.Type.Refs = append(m.Type.Refs, t.Index)
			}
			s.Nodes = append(s.Nodes, t)
			s.references[name] = t
		}
	}
}

// endType returns the node type or the reference type at an end of an edge type, or nil if the schema has
// none.
func (s *Schema) endType(e *catalog.Edge, to bool) *Type {
	name, isInterface := e.End(to)
	if isInterface {
		return s.references[name]
	}
	return s.nodes[name]
}

// EndType returns the node type or the reference type at an end of an edge type: at the target if `to` is set.
func (s *Schema) EndType(edge *Type, to bool) *Type {
	if to {
		return s.Nodes[edge.To]
	}
	return s.Nodes[edge.From]
}

// EndName returns [catalog.Edge.EndName] of an end of an edge type.
func (s *Schema) EndName(edge *Type, to bool) string { return s.EndType(edge, to).Name }

// Implements reports whether the entities of a reference type may stand for nodes of a type.
func (t *Type) Implements(member *Type) bool { return t.Of.Position(member) >= 0 }

// CheckEnd checks that a value has the form of endValue, and names a type that fits the end. It returns what is
// wrong, or "".
func (t *Type) CheckEnd(v value.Value) string {
	if t.Of == nil {
		if v.IsNull() || v.Kind() != value.String || v.IsList() {
			return "the value must be the id of a node"
		}
		return ""
	}
	text := func(v value.Value) bool { return !v.IsNull() && v.Kind() == value.String && !v.IsList() }
	if v.IsNull() || !v.IsList() || len(v.Elems()) != 2 || !text(v.Elems()[0]) || !text(v.Elems()[1]) {
		return "the value must be an object with the type and the id of a node"
	}
	if typ, _ := plan.NodeOf(v); !slices.ContainsFunc(t.Of.Members, func(m Member) bool { return m.Type.Name == typ }) {
		return fmt.Sprintf("node type %s does not implement %s; use one of %s", typ, t.Of.Type.Name, t.memberList())
	}
	return ""
}

// memberList returns the names of the types that implement the interface of a reference type, for messages.
func (t *Type) memberList() string {
	names := make([]string, len(t.Of.Members))
	for i, m := range t.Of.Members {
		names[i] = m.Type.Name
	}
	return strings.Join(names, ", ")
}

// setEnds sets the ends of a change or of an image: of an edge of type t with the ends of e. The result holds no
// reference to a segment.
func (e *entityState) setEnds(s *Schema, t *Type, from, fromType, to, toType *string) {
	if t.Entity != plan.Edge {
		return
	}
	set := func(end *Type, raw string, id, typ *string) {
		name, node := end.Label(raw)
		*id = strings.Clone(node)
		if end.Of != nil {
			*typ = strings.Clone(name)
		}
	}
	set(s.EndType(t, false), e.from, from, fromType)
	set(s.EndType(t, true), e.to, to, toType)
}

// Label returns the type and the id of the node that an entity of a node type is or stands for.
func (t *Type) Label(id string) (typ, node string) {
	if t.Of == nil {
		return t.Name, id
	}
	return SplitRef(id)
}

// endValue returns an end of an edge as changes and exports show it: the id of the node, or for an end at an interface
// a record of the node's type and id. The parameter `id` is the id of the entity of type t at the end.
func (t *Type) endValue(id string) value.Value {
	if t.Of == nil {
		return value.OfString(id)
	}
	return plan.OfNode(SplitRef(id))
}

// EndID is the inverse of endValue.
func (t *Type) EndID(v value.Value) string {
	if t.Of == nil {
		return v.Str()
	}
	return RefID(plan.NodeOf(v))
}

// describeEnd returns an endValue as a conflict message shows it.
func (t *Type) describeEnd(v value.Value) string {
	if t.Of == nil {
		return describe(v)
	}
	return t.spell(t.EndID(v))
}

// spell returns the node that an entity of a node type is or stands for, as messages show it: its type and
// its id.
func (t *Type) spell(id string) string {
	typ, node := t.Label(id)
	return fmt.Sprintf("%s %q", typ, node)
}

// Referent returns the node that a reference stands for. It throws a fault if there is no such node; see
// package corruption.
func (s *Snapshot) Referent(t *Type, ref uint32) (*Type, uint32) {
	name, id := SplitRef(s.nodes[t.Index].ID(ref))
	if node := s.Schema.nodes[name]; node != nil {
		if ord, ok := s.nodes[node.Index].Lookup(id); ok {
			return node, ord
		}
	}
	corruption.Corrupt(t.Name, "a reference stands for %s %q, which does not exist", name, id)
	return nil, 0
}

// ReferenceTo returns the reference that stands for a live node. It reports false if no edge has needed it.
func (s *Snapshot) ReferenceTo(t, node *Type, ord uint32) (ref uint32, ok bool) {
	return s.nodes[t.Index].Lookup(RefID(node.Name, s.nodes[node.Index].ID(ord)))
}

// LookupEnd finds the entity of a node type with an id, for an end of an edge. If it is a reference that no edge has
// needed, but its node exists, LookupEnd creates it.
func (tx *Txn) LookupEnd(t *Type, id string) (ord uint32, ok bool) {
	if ord, ok = tx.Table(t).Lookup(id); ok || t.Of == nil {
		return ord, ok
	}
	name, nodeID := SplitRef(id)
	node := tx.base.Schema.nodes[name]
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
func (tx *Txn) referenceTo(t, node *Type, ord uint32) (ref uint32, ok bool) {
	return tx.Table(t).Lookup(RefID(node.Name, tx.Table(node).ID(ord)))
}

// eachEnd calls `yield` with each entity that stands for a live node at ends of edges: the node itself, and its
// references.
func (tx *Txn) eachEnd(t *Type, ord uint32, yield func(t *Type, ord uint32)) {
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
func (tx *Txn) dropReferences(t *Type) {
	nodes := tx.Table(t)
	for _, i := range t.Refs {
		of := tx.base.Schema.Nodes[i]
		refs := tx.Table(of)
		for ref := range refs.next {
			if !refs.Alive(ref) {
				continue
			}
			name, id := SplitRef(refs.ID(ref))
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
func (s *Snapshot) carryReferences(from *Schema, c *Carry) (*Snapshot, map[*Type][]uint32) {
	tx := Begin(s)
	lost := map[*Type][]uint32{}
	for _, t := range s.Schema.Nodes[s.Schema.declared:] {
		if c.Nodes[t.Index].From < 0 {
			continue
		}
		old := from.Nodes[c.Nodes[t.Index].From]
		now := c.members(old, t, s.Schema)
		if len(now) < len(old.Of.Members) {
			tx.removeReferences(t, lost, func(ref string) bool { return now.gone(ref) })
		}
		if now.renamed() {
			tx.renameReferences(t, now)
		}
	}
	out := tx.Commit(s.Commit)
	out.line = s.line
	return out, lost
}

// memberNames maps the names of the types that implemented an interface before a schema change to their present
// names. It lacks the types that do not implement the interface any more.
type memberNames map[string]string

// members returns the names of the members of an interface. The reference types of the interface are `old`
// before the change, and t in the schema `to`.
func (c *Carry) members(old, t *Type, to *Schema) memberNames {
	now := memberNames{}
	for _, m := range old.Of.Members {
		at := slices.IndexFunc(c.Nodes, func(tc TypeCarry) bool { return tc.From == m.Type.Index })
		if at >= 0 && t.Implements(to.Nodes[at]) {
			now[m.Type.Name] = to.Nodes[at].Name
		}
	}
	return now
}

// gone reports whether a reference stands for a node of a type that does not implement the interface any
// more.
func (m memberNames) gone(ref string) bool {
	name, _ := SplitRef(ref)
	return m[name] == ""
}

// renamed reports whether a type has another name than before.
func (m memberNames) renamed() bool {
	for was, is := range m {
		if was != is {
			return true
		}
	}
	return false
}

// removeReferences removes the references whose id `gone` selects, and their edges. It adds the sources of
// these edges to `lost`.
func (tx *Txn) removeReferences(t *Type, lost map[*Type][]uint32, gone func(ref string) bool) {
	refs := tx.Table(t)
	for ref := range refs.next {
		if !refs.Alive(ref) || !gone(refs.ID(ref)) {
			continue
		}
		tx.eachEdge(t, ref, func(typ *Type, edge uint32) {
			src, _ := tx.Table(typ).Ends(edge)
			lost[typ] = append(lost[typ], src)
			tx.edit(typ).delete(edge)
		})
		tx.edit(t).delete(ref)
		refs = tx.Table(t)
	}
}

// renameReferences gives the references the present names of the types. They keep their ordinals.
func (tx *Txn) renameReferences(t *Type, now memberNames) {
	e := tx.edit(t)
	old := *e.Table
	*e.Table = *newTable(t)
	for ord := range old.next {
		if !old.Alive(ord) {
			tx.edit(t).skip()
			continue
		}
		name, id := SplitRef(old.ID(ord))
		e.add(Row{ID: RefID(now[name], id)})
	}
}

// eachEdge calls `yield` with each live edge at an entity of a node type. It yields an edge from the entity
// to itself once.
func (tx *Txn) eachEdge(t *Type, ord uint32, yield func(typ *Type, edge uint32)) {
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
