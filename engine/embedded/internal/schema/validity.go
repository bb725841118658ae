package schema

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Validity has the positions of the properties that say when an entity is valid; see [catalog.Validity].
type Validity struct{ Since, Until int }

// validity sets t.Valid. The properties must exist.
func (t *Type) validity(v *catalog.Validity) {
	if v != nil {
		t.Valid = &Validity{t.byName[v.Since], t.byName[v.Until]}
	}
}

// HasValid reports whether a type says with @valid when its entities are valid.
func (s *Schema) HasValid() bool {
	says := func(t *Type) bool { return t.Valid != nil }
	return slices.ContainsFunc(s.Nodes, says) || slices.ContainsFunc(s.Edges, says)
}

// CheckValid checks that an entity whose properties have the values that the function `val` returns begins to be valid before it ends. The error is
// a *engine.ConstraintViolation without the entity's id, or nil. A value that a rule of its own forbids is not looked at.
func (t *Type) CheckValid(val func(p int) value.Value) *engine.ConstraintViolation {
	if t.Valid == nil {
		return nil
	}
	since, until := val(t.Valid.Since), val(t.Valid.Until)
	if order, ok := value.Compare(since, until); !ok || order < 0 {
		return nil
	}
	names := [2]string{t.Props[t.Valid.Since].Name, t.Props[t.Valid.Until].Name}
	return &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: names[1], Rule: "valid",
		Detail: fmt.Sprintf("%s is %s, which is not after %s, %s; give a later one, or none while it is still valid", names[1], value.Text(until), names[0], value.Text(since))}
}

// stricterValid reports whether entities of the previous type `old` may break the @valid of t.
func (t *Type) stricterValid(old *Type, tc TypeCarry) bool {
	if t.Valid == nil || old.Valid != nil && tc.Props[t.Valid.Since] == old.Valid.Since && tc.Props[t.Valid.Until] == old.Valid.Until {
		return false // a cast between Date and DateTime keeps the order of exact values
	}
	return true
}
