package naive

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// spared reports whether an edge of the base stays although one side lacks it, because this side deleted it only
// together with nodes that a resolution keeps.
func (m *merge) spared(edge *entity, side *state) bool {
	if edge == nil || edge.kind != plan.Edge || m.g.fault == KeptWithoutEdges {
		return false
	}
	lacks, kept := 0, 0
	for _, to := range []bool{false, true} {
		if side.node(edge, to) == nil {
			lacks++
			if n := m.base.node(edge, to); m.kept[[2]string{n.typ, n.id}] {
				kept++
			}
		}
	}
	return lacks > 0 && lacks == kept
}

// taken counts the edges of a node in the base that the side without the node lacks, and that the other side has.
func (m *merge) taken(node *entity, sourceLacks bool) (n int) {
	keeper, deleter := m.source, m.ours
	if sourceLacks {
		keeper, deleter = deleter, keeper
	}
	for typ, edges := range m.base.edges {
		for id, e := range edges {
			at := m.base.node(e, false) == node || m.base.node(e, true) == node
			if at && node.kind == plan.Node && keeper.edges[typ][id] != nil && deleter.edges[typ][id] == nil {
				n++
			}
		}
	}
	return n
}

// carry is place for an entity that keeps the origin that it has in the source.
func (m *merge) carry(e *entity) {
	if m.carries == nil {
		m.carries = map[*entity]bool{}
	}
	m.carries[m.place(e)] = true
}

// place inserts or replaces an entity of the source, and returns what it puts. It adds an edge only if both of its ends
// exist.
func (m *merge) place(e *entity) *entity {
	copied := *e
	copied.claims = mergeClaims(nil, e.claims, nil)
	e = &copied
	m.values(e, m.broken)
	m.checkValid(e.kind, e.typ, []*entity{e}, m.broken)
	if e.kind == plan.Edge && m.lacks(e) {
		return e
	}
	m.changed[e] = true
	m.count(e.kind, engine.Updated)
	m.put(e)
	return e
}
