package resolve

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// validity returns what @valid among the annotations of a type says, or nil without @valid. It reports properties that cannot say when an entity is valid.
func (b *builder) validity(annotations []*syntax.Annotation, props []*catalog.Property, lookup func(string) *catalog.Property) (v *catalog.Validity) {
	for _, a := range annotations {
		if a.Name.Value != "valid" || v != nil {
			continue
		}
		if len(a.Args) != 2 || a.Args[0].Name == nil || a.Args[1].Name == nil || a.Args[0].Key != nil || a.Args[1].Key != nil {
			b.fault(BadValid, a.Span(), "write @valid(since, until)", "the arguments of @valid must be the names of two properties, the start first")
			return nil
		}
		since, until := b.propertyNamed(*a.Args[0].Name, props, lookup), b.propertyNamed(*a.Args[1].Name, props, lookup)
		if since == nil || until == nil {
			return nil
		}
		v = &catalog.Validity{Since: since.Name, Until: until.Name}
		if !v.Fits(since.Type, until.Type) {
			b.fault(BadValid, a.Span(), "declare "+since.Name+": Date and "+until.Name+": Date?, or both with DateTime",
				"@valid needs two properties of the type Date or DateTime, the second one nullable, but %s is %s and %s is %s", since.Name, since.Type, until.Name, until.Type)
		}
	}
	return v
}
