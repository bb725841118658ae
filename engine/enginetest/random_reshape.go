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

// resized returns a drawn vector, which has two components, with the length of a type.
func resized(v value.Value, t value.Type) value.Value {
	if t.Dim == 2 {
		return v
	}
	return value.OfVector(append(v.Vector()[:2:2], 1))
}
