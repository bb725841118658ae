package version

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// A deletion of a node deletes its edges too. If a resolution keeps the node, these deletions have no effect either.
// A merge sees only that the deleting side lacks an edge of the base. It takes that for a part of the deletion of the
// node if the deleting side also lacks an end of the edge.

// keptNode is a node that one side deleted and that a resolution keeps as it is on the other side.
type keptNode struct {
	t  *schema.Type
	id string
}

// keep notes that a resolution keeps a node.
func (m *merge) keep(t *schema.Type, id string) {
	if t.Entity == plan.Node && !fault.On(fault.KeptWithoutEdges) {
		m.kept = append(m.kept, keptNode{t, id})
	}
}

// keeps reports whether a resolution keeps a node. The list m.kept is in the order of the types and then of the ids.
func (m *merge) keeps(n keptNode) bool {
	_, ok := slices.BinarySearchFunc(m.kept, n, func(a, b keptNode) int {
		return cmp.Or(cmp.Compare(a.t.Index, b.t.Index), strings.Compare(a.id, b.id))
	})
	return ok
}

// spared reports whether an edge of the base stays although the state `deleter` lacks it: all ends that the state
// lacks are nodes that a resolution keeps, and there is at least one.
func (m *merge) spared(t *schema.Type, was *entityState, deleter *Snapshot) bool {
	any := false
	for _, to := range []bool{false, true} {
		name, id := m.tx.Schema().EndType(t, to).Label(was.end(to))
		node := m.tx.Schema().Type(plan.Node, name)
		if _, there := lookup(deleter, node, id); there {
			continue
		}
		if node == nil || !m.keeps(keptNode{node, id}) {
			return false
		}
		any = true
	}
	return any
}

// restoreEdges puts the edges back that the target deleted together with nodes that a resolution keeps. An edge that the
// source edited is not among them, because it has a conflict or a resolution of its own. REQUIRES: the nodes of all
// types are decided, and those of the puts that are edges are not.
func (m *merge) restoreEdges() error {
	put := map[keptNode]bool{} // edges
	for _, n := range m.kept {
		ord, ok := lookup(m.source, n.t, n.id)
		if _, kept := lookup(m.tx.base, n.t, n.id); !ok || kept {
			continue // the source deleted the node, not the target
		}
		for t, edge := range m.source.EdgesAt(n.t, ord) {
			if err := m.step(); err != nil {
				return err
			}
			is := entityAt(m.source, t, edge)
			id := m.source.Table(plan.Edge, t.Index).ID(edge)
			was, have := entityOf(m.base, t, id), entityOf(m.tx.base, t, id)
			if e := (keptNode{t, id}); !put[e] && !have.there && was.there && m.opts.Filled.unedited(t, &was, &is) && m.spared(t, &was, m.tx.base) {
				put[e] = true
				m.carry(t, id, is)
			}
		}
	}
	return nil
}

// taken counts the edges that the deletion of a node on one side took with it; see [engine.MergeConflict]. The two
// states are those of the side that has the node and of the side that deleted it.
func (m *merge) taken(t *schema.Type, id string, keeper, deleter *Snapshot) (n int, err error) {
	if t.Entity != plan.Node {
		return 0, nil
	}
	ord, _ := lookup(m.base, t, id)
	for typ, edge := range m.base.EdgesAt(t, ord) {
		if err := m.step(); err != nil {
			return 0, err
		}
		id := m.base.Table(plan.Edge, typ.Index).ID(edge)
		_, kept := lookup(keeper, typ, id)
		if _, there := lookup(deleter, typ, id); kept && !there {
			n++
		}
	}
	return n, nil
}

// takesEdges says in a clause how many edges the deletion of a node takes with it.
func takesEdges(c *engine.MergeConflict) string {
	switch c.Edges {
	case 0:
		return ""
	case 1:
		return "; the deletion takes 1 edge with it, which stays if the entity is kept"
	}
	return fmt.Sprintf("; the deletion takes %d edges with it, which stay if the entity is kept", c.Edges)
}

// EdgesAt lists the live edges at a live node, with their types. It yields an edge from the node to itself once.
func (s *Snapshot) EdgesAt(t *schema.Type, ord uint32) iter.Seq2[*schema.Type, uint32] {
	return func(yield func(t *schema.Type, edge uint32) bool) {
		seen := map[[2]uint32]bool{}
		visit := func(end *schema.Type, ord uint32) bool {
			for i, list := range [][]int{end.Out, end.In} {
				for _, et := range list {
					edges := s.edges[et]
					for _, edge := range LiveEdges(edges, []*index.Adjacency{edges.Out(), edges.In()}[i], ord) {
						if at := [2]uint32{uint32(et), edge}; !seen[at] {
							if seen[at] = true; !yield(edges.Type, edge) {
								return false
							}
						}
					}
				}
			}
			return true
		}
		if !visit(t, ord) {
			return
		}
		for _, i := range t.Refs {
			of := s.Schema.Nodes[i]
			if ref, ok := s.ReferenceTo(of, t, ord); ok && !visit(of, ref) {
				return
			}
		}
	}
}

// place returns the place of a conflict.
func place(t *schema.Type, id, property string) engine.ConflictPlace {
	return engine.ConflictPlace{Entity: t.Entity.String(), Type: t.Name, ID: id, Property: property}
}

// side returns the side that the resolution of a place takes, or 0 if the place has no resolution.
func (m *merge) side(t *schema.Type, id, property string) engine.MergeSide {
	if r := m.resolutions[place(t, id, property)]; r != nil {
		return r.Take
	}
	return 0
}

// part returns an image of an entity with only the given property. If the property is an end of an
// edge, the image has no properties.
func (e *entityState) part(s *schema.Schema, t *schema.Type, property string) *engine.Image {
	out := &engine.Image{}
	e.setEnds(s, t, &out.From, &out.FromType, &out.To, &out.ToType)
	if t.Entity == plan.Edge && (property == "from" || property == "to") {
		return out
	}
	if p, ok := t.Prop(property); ok {
		out.Properties = []engine.PropertyValue{{Name: property, Value: Detached(e.vals[p])}}
	}
	return out
}

// stale reports whether the merged value of the property p is a vector of another text than the merged one: none of the three states
// has the two together. The merge leaves such a vector out, as an update of the text does that cannot compute it. A vector that a
// resolution gives stays, and so does one that the schema requires.
func (m *merge) stale(d *divergent, merged *entityState, p int) bool {
	prop := d.t.Props[p]
	if prop.Embed == nil || !prop.Type.Nullable || merged.vals[p].IsNull() {
		return false
	}
	if r := m.resolutions[place(d.t, d.id, prop.Name)]; r != nil && r.Take == engine.TakeValue {
		return false
	}
	source, _ := d.t.Prop(prop.Embed.Source)
	for _, s := range []*entityState{d.base, d.source, d.target} {
		if value.Equal(s.vals[source], merged.vals[source]) && value.Equal(s.vals[p], merged.vals[p]) {
			return false
		}
	}
	return true
}
