package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// reshape sometimes gives a vector of the schema another length.
func (d *drawer) reshape(s *catalog.Schema) {
	if !d.reshapes.percent(20) {
		return
	}
	var vectors []*catalog.Property
	add := func(props []*catalog.Property) {
		for _, p := range props {
			if p.Type.Kind == value.Vector {
				vectors = append(vectors, p)
			}
		}
	}
	for _, n := range s.Nodes {
		add(n.Properties)
	}
	for _, e := range s.Edges {
		add(e.Properties)
	}
	if len(vectors) == 0 {
		return
	}
	p := pick(d.reshapes, vectors)
	p.Type.Dim = 5 - p.Type.Dim
	if d.reshapes.percent(80) {
		p.Type.Nullable = true
	}
}

// move sometimes gives an edge type of the schema another end: an interface that the node type there implements, another
// interface, or one of the node types that implement the interface there.
func (d *drawer) move(s *catalog.Schema) {
	if len(s.Edges) == 0 || !d.reshapes.percent(25) {
		return
	}
	e := pick(d.reshapes, s.Edges)
	end, isInterface := &e.From, &e.FromInterface
	if d.reshapes.percent(60) {
		end, isInterface = &e.To, &e.ToInterface
	}
	var interfaces, nodes []string
	if *isInterface {
		for _, n := range s.Implementers(*end) {
			nodes = append(nodes, n.Name)
			interfaces = append(interfaces, n.Implements...)
		}
	} else {
		interfaces = s.Node(*end).Implements
	}
	if names := interfaces; len(nodes) == 0 || d.reshapes.percent(50) {
		if len(names) > 0 {
			*end, *isInterface = pick(d.reshapes, names), true
		}
		return
	}
	*end, *isInterface = pick(d.reshapes, nodes), false
}

// resized returns a drawn vector, which has two components, with the length of a type.
func resized(v value.Value, t value.Type) value.Value {
	if t.Dim == 2 {
		return v
	}
	return value.OfVector(append(v.Vector()[:2:2], 1))
}
