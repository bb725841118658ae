package naive

import "github.com/omnigraph-go/omnigraph/gq/plan"

// traverses reports whether a traversal holds between the two entities that are bound to its
// variables.
func (ev *evaluation) traverses(t plan.Traverse) bool {
	from, to := ev.env[t.From], ev.env[t.To]
	if !ev.fitsEnds(t, from, to) {
		return false
	}
	switch {
	case t.EdgeVar != plan.NoVar && !t.Walk:
		e := ev.env[t.EdgeVar]
		if !ev.joins(t, e, from, to) {
			return false
		}
		if ev.g.fault == ParallelMerged {
			for _, o := range ev.state.sorted(plan.Edge, e.typ) {
				if ev.joins(t, o, from, to) {
					return o == e
				}
			}
		}
		return true
	case !t.Walk:
		return ev.parallels(t) > 0
	case t.From == t.To || ev.g.fault == StartReported:
		return ev.reaches(t, from, to)
	case from == to:
		return t.Min == 0 || ev.g.fault == MinHopsIgnored
	default:
		return ev.reaches(t, from, to)
	}
}

// parallels returns the number of edges that satisfy a traversal without bounds.
func (ev *evaluation) parallels(t plan.Traverse) int {
	n := 0
	for _, edge := range ev.alternatives(t) {
		for _, e := range ev.state.edges[edge] {
			if ev.joins(t, e, ev.env[t.From], ev.env[t.To]) {
				n++
			}
		}
	}
	return n
}

// joins reports whether an edge leads from one node to another in a direction that the traversal
// allows.
func (ev *evaluation) joins(t plan.Traverse, e, from, to *entity) bool {
	if ev.g.fault == SelfLoopDropped && from == to {
		return false
	}
	if ev.leads(e, from, to) {
		return true
	}
	return t.Undirected && ev.g.fault != UndirectedOneWay && ev.leads(e, to, from)
}

// reaches reports whether one node can reach another by a walk with a length within the bounds of a
// traversal. Only the shortest walk of at least one edge counts. The search starts with no node
// visited, so the length from a node to itself is the length of its shortest closed walk.
func (ev *evaluation) reaches(t plan.Traverse, from, to *entity) bool {
	visited := map[*entity]bool{}
	if ev.g.fault == SourceVisited {
		visited[from] = true
	}
	maxHops := t.Max
	if ev.g.fault == MaxHopsShort && maxHops > 1 {
		maxHops--
	}
	level := []*entity{from}
	for distance := 1; distance <= maxHops && len(level) > 0; distance++ {
		var next []*entity
		for _, source := range level {
			for _, neighbour := range ev.neighbours(t, source) {
				if visited[neighbour] {
					if ev.g.fault == WalkNotShortest && neighbour == to && distance >= t.Min {
						return true
					}
					continue
				}
				visited[neighbour] = true
				if neighbour == to {
					if distance >= t.Min || ev.g.fault == MinHopsIgnored {
						return true
					}
				}
				next = append(next, neighbour)
			}
		}
		level = next
	}
	return false
}

// neighbours returns the nodes that one step of a traversal reaches. The walk ends at nodes of which no edge can begin.
func (ev *evaluation) neighbours(t plan.Traverse, source *entity) []*entity {
	return ev.around(t, source, t.Undirected && ev.g.fault != UndirectedOneWay)
}

// around returns the other ends of the edges that leave a node. If `back` is true, it also returns those of the
// edges that enter the node.
func (ev *evaluation) around(t plan.Traverse, node *entity, back bool) []*entity {
	var found []*entity
	add := func(e *entity) {
		if e != nil { // a faulty model can have edges with a missing endpoint
			found = append(found, e)
		}
	}
	for _, name := range ev.alternatives(t) {
		for _, e := range ev.state.sorted(plan.Edge, name) {
			if ev.g.fault == SelfLoopDropped && ev.loops(e) {
				continue
			}
			if ev.ends(e, false, node) {
				add(ev.state.node(e, true))
			}
			if back && ev.ends(e, true, node) {
				add(ev.state.node(e, false))
			}
		}
	}
	return found
}

// alternatives returns the names of the edge types that a traversal may follow.
func (ev *evaluation) alternatives(t plan.Traverse) []string {
	edges := t.Edges()
	if ev.g.fault == LastEdgeIgnored && len(edges) > 1 {
		edges = edges[:len(edges)-1]
	}
	return edges
}
