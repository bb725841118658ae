package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// CheckValue checks the rules of property p that concern one value: required, type, enum,
// range, check, key. The error is a *engine.ConstraintViolation, without the entity's id.
func (t *Type) CheckValue(p int, v value.Value) error {
	prop := t.Props[p]
	typ := prop.Type
	fail := func(rule, format string, args ...any) error {
		return &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: prop.Name, Rule: rule, Detail: fmt.Sprintf(format, args...)}
	}
	if v.IsNull() {
		if !typ.Nullable {
			return fail("required", "the value is missing; give one of type %s", typ)
		}
		return nil
	}
	if v.Kind() != typ.Kind || v.IsList() != typ.List {
		return fail("type", "found a value of type %s, expected %s", v.Type(), typ)
	}
	if typ.List {
		for i, e := range v.Elems() {
			if e.Kind() != typ.Kind || e.IsList() {
				return fail("type", "element %d is not a value of type %s", i, typ.Elem())
			}
		}
	}
	if typ.Kind == value.Vector && !typ.List && len(v.Vector()) != typ.Dim {
		return fail("type", "found a vector of length %d, expected %d", len(v.Vector()), typ.Dim)
	}
	if typ.Kind == value.Decimal {
		elems := []value.Value{v}
		if typ.List {
			elems = v.Elems()
		}
		for _, e := range elems {
			if err := typ.CheckDecimal(e); err != nil {
				return fail("type", "%v", err)
			}
		}
	}
	if typ.Enum != nil {
		elems := []value.Value{v}
		if typ.List {
			elems = v.Elems()
		}
		for _, e := range elems {
			if !slices.Contains(typ.Enum, e.Str()) {
				return fail("enum", "found %q, expected one of %s", e.Str(), strings.Join(typ.Enum, ", "))
			}
		}
	}
	if typ.List {
		return nil
	}
	for _, r := range t.ranges[p] {
		if err := r.Bounds().Check(v); err != nil {
			return fail("range", "%v", err)
		}
	}
	for _, c := range t.checks[p] {
		if typ.Kind != value.String {
			continue
		}
		if err := c.Check(v); err != nil {
			return fail("check", "%v", err)
		}
	}
	if typ.Kind.IsFloat() && slices.Contains(t.Key, p) && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
		return fail("key", "found %s, expected a finite number", value.Text(v))
	}
	return nil
}

// HasRules reports whether a value of the right type can violate a rule of property p.
func (t *Type) HasRules(p int) bool {
	return t.Props[p].Type.Enum != nil || len(t.ranges[p])+len(t.checks[p]) > 0
}

// CheckRow checks each value of an entity on its own; see [Type.CheckValue].
func (t *Type) CheckRow(id string, vals []value.Value) error {
	for p, v := range vals {
		if err := t.CheckValue(p, v); err != nil {
			err.(*engine.ConstraintViolation).ID = id
			return err
		}
	}
	return nil
}

// Same reports whether two values of one type are equal under the operator =. A null equals
// nothing.
func Same(a, b value.Value) bool {
	if a.IsNull() || b.IsNull() {
		return false
	}
	if c, ok := value.Compare(a, b); ok {
		return c == 0
	}
	return value.Equal(a, b)
}

// StricterRules says which rules of a type may be violated by entities of a previous schema.
type StricterRules struct {
	Props  []int // positions of the properties with a stricter rule
	Tuples []int // positions of the unique tuples with a stricter rule
	Card   bool  // whether the cardinality is stricter
	Valid  bool  // whether the @valid is stricter
}

// Any reports whether some rule is stricter.
func (s StricterRules) Any() bool { return len(s.Props)+len(s.Tuples) > 0 || s.Card || s.Valid }

// Stricter returns the rules of t that are stricter than the rules of its previous type `old`, whose entities tc takes
// over.
func (t *Type) Stricter(old *Type, tc TypeCarry) (s StricterRules) {
	for p, q := range tc.Props {
		if q < 0 {
			if t.CheckValue(p, tc.Start(t, p)) != nil {
				s.Props = append(s.Props, p)
			}
			continue
		}
		was, is := old.Props[q].Type, t.Props[p].Type
		narrower := is.Enum != nil && (was.Enum == nil || slices.ContainsFunc(was.Enum, func(v string) bool { return !slices.Contains(is.Enum, v) }))
		if was.Nullable && !is.Nullable || !tc.Keeps(old, t, p) || narrower || t.rulesOf(p) != "" && t.rulesOf(p) != old.rulesOf(q) {
			s.Props = append(s.Props, p)
		}
	}
	for i, tuple := range t.Tuples[:t.Unique] {
		if j := old.SameTuple(t, tuple, tc); j < 0 || j >= old.Unique {
			s.Tuples = append(s.Tuples, i)
		}
	}
	s.Card = t.Card != nil && (old.Card == nil || *t.Card != *old.Card)
	s.Valid = t.stricterValid(old, tc)
	return s
}

// rulesOf returns the ranges and checks of a property as text, for comparison.
func (t *Type) rulesOf(p int) string {
	var b strings.Builder
	for _, r := range t.ranges[p] {
		b.WriteString("range")
		for _, end := range []*value.Value{r.Min, r.Max} {
			b.WriteByte(' ')
			if end != nil {
				b.WriteString(value.Text(*end))
			}
		}
		b.WriteByte('\n')
	}
	for _, c := range t.checks[p] {
		fmt.Fprintf(&b, "check %q\n", c.String())
	}
	return b.String()
}

// CheckResolution checks that the schema has the type and the property of a resolution, and that
// its value fits the property. It returns what is wrong, or "".
func (s *Schema) CheckResolution(r *engine.Resolution) string {
	entity := plan.Node
	if r.Entity == plan.Edge.String() {
		entity = plan.Edge
	}
	t := s.Type(entity, r.Type)
	switch {
	case t == nil || t.Entity.String() != r.Entity:
		return fmt.Sprintf("the schema has no %s type %s", r.Entity, r.Type)
	case r.Property == "" && r.Take == engine.TakeValue:
		return "an entity has no single value; take ours or theirs, or name a property"
	case r.Property == "" || r.Take != engine.TakeValue:
		return ""
	case entity == plan.Edge && (r.Property == "from" || r.Property == "to"):
		return s.EndType(t, r.Property == "to").CheckEnd(r.Value)
	}
	p, ok := t.Prop(r.Property)
	if !ok {
		return fmt.Sprintf("type %s has no property %s", r.Type, r.Property)
	}
	if err := t.CheckValue(p, r.Value); err != nil {
		return err.(*engine.ConstraintViolation).Detail
	}
	return ""
}
