package schema

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Identity returns the number of the unique rule that identifies an edge by its ends: the first rule with src and dst and
// without a null. The function `val` returns the value of a property.
func (t *Type) Identity(val func(p int) value.Value) (rule int, ok bool) {
	for i := range t.Unique {
		if t.IdentifiesEdges(i) && !slices.ContainsFunc(t.Tuples[i], func(p int) bool { return p != Source && p != Target && val(p).IsNull() }) {
			return i, true
		}
	}
	return 0, false
}

// IdentifiesEdges reports whether unique rule i has both ends of an edge.
func (t *Type) IdentifiesEdges(i int) bool {
	return t.Entity == plan.Edge && slices.Contains(t.Tuples[i], Source) && slices.Contains(t.Tuples[i], Target)
}

// FoundByEnds reports whether a unique rule has both ends of an edge.
func (t *Type) FoundByEnds() bool {
	for i := range t.Unique {
		if t.IdentifiesEdges(i) {
			return true
		}
	}
	return false
}

// Identifies reports whether property p is part of what identifies an entity: a member of a key, or of a unique rule with both
// ends of an edge.
func (t *Type) Identifies(p int) bool {
	if slices.Contains(t.Key, p) {
		return true
	}
	for i := range t.Unique {
		if t.IdentifiesEdges(i) && slices.Contains(t.Tuples[i], p) {
			return true
		}
	}
	return false
}

// UniqueNames lists the names of the members of unique rule i.
func (t *Type) UniqueNames(i int) string {
	names := make([]string, len(t.Tuples[i]))
	for k, p := range t.Tuples[i] {
		switch p {
		case Source:
			names[k] = "src"
		case Target:
			names[k] = "dst"
		default:
			names[k] = t.Props[p].Name
		}
	}
	return strings.Join(names, ", ")
}

// EdgeID returns the id that a new edge gets from its ends and from its values in unique rule `rule`. The function `val` returns
// the value of a property.
func (s *Schema) EdgeID(t *Type, rule int, from, to string, val func(p int) value.Value) string {
	var members []string
	for _, m := range t.Tuples[rule] {
		if m != Source && m != Target {
			members = append(members, value.Text(val(m)))
		}
	}
	return engine.DerivedEdgeID(t.Name, endText(s.EndType(t, false), from), endText(s.EndType(t, true), to), members...)
}

// endText returns the text of an end in a derived id.
func endText(t *Type, id string) string {
	if t.Of == nil {
		return id
	}
	typ, id := SplitRef(id)
	return typ + "/" + id
}
