package naive

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// properties returns the declared properties of a type.
func (t *tx) properties(kind plan.Entity, typ string) []*catalog.Property {
	if kind == plan.Edge {
		return t.after.schema.Edge(typ).Properties
	}
	return t.after.schema.Node(typ).Properties
}

// property returns a property of a type in the new schema, or nil if there is none.
func (t *tx) property(kind plan.Entity, typ, name string) *catalog.Property {
	for _, p := range t.properties(kind, typ) {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// violation reports that an entity breaks a rule. If the entity was loaded, the report contains the
// number of its line.
func (t *tx) violation(e *entity, property, rule, detail string) {
	t.report(e, "data."+property, &engine.ConstraintViolation{Entity: e.kind.String(), Type: e.typ, ID: e.id,
		Property: property, Rule: rule, Detail: detail})
}

// report adds an error. For an entity that was loaded, it adds the number of its line.
func (t *tx) report(e *entity, field string, err error) {
	if line := t.lines[e]; line > 0 {
		err = &engine.LineError{Line: line, Field: strings.TrimSuffix(field, "data."), Err: err}
	}
	t.errs = append(t.errs, err)
}

// build makes an entity from its properties and checks everything that depends on this entity
// alone: types, required properties, enums, ranges and checks. The id of a keyed node is derived
// from its key. build returns nil after a violation.
func (t *tx) build(kind plan.Entity, typ, id string, props map[string]value.Value) *entity {
	e := &entity{kind: kind, typ: typ, id: id, props: map[string]value.Value{}}
	before := len(t.errs)
	for _, p := range t.properties(kind, typ) {
		v, given := props[p.Name]
		if !given {
			if !p.Type.Nullable && t.g.fault != RequiredUnchecked {
				t.violation(e, p.Name, "required", "the property is required and has no value")
			}
			continue
		}
		v, err := convert(v, p.Type)
		if err != nil {
			t.violation(e, p.Name, "type", err.Error())
			continue
		}
		if p.Type.Enum != nil && !slices.Contains(p.Type.Enum, v.Str()) && t.g.fault != EnumUnchecked {
			t.violation(e, p.Name, "enum", fmt.Sprintf("%q is not one of %s", v.Str(), strings.Join(p.Type.Enum, ", ")))
		}
		e.props[p.Name] = v
	}
	if kind == plan.Node {
		n := t.after.schema.Node(typ)
		for _, r := range n.Ranges {
			t.checkRange(e, r)
		}
		for _, c := range n.Checks {
			t.checkPattern(e, c)
		}
		if n.Key != nil && len(t.errs) == before {
			e.id = keyID(n, e.props)
		}
	}
	if len(t.errs) > before {
		return nil
	}
	return e
}

// checkRange reports a value outside a range.
func (t *tx) checkRange(e *entity, r catalog.Range) {
	v, ok := e.props[r.Property]
	if !ok {
		return
	}
	outside := func(end *value.Value, sign int) bool {
		if end == nil {
			return false
		}
		order, ok := value.Compare(v, *end)
		return !ok || order*sign > 0 || order == 0 && t.g.fault == RangeExclusive
	}
	if outside(r.Min, -1) || outside(r.Max, 1) {
		t.violation(e, r.Property, "range", value.Text(v)+" lies outside the range")
	}
}

// checkPattern reports a value that does not match a pattern.
func (t *tx) checkPattern(e *entity, c catalog.Check) {
	v, ok := e.props[c.Property]
	if !ok {
		return
	}
	pattern := c.Pattern
	if t.g.fault == CheckAnchored {
		pattern = "^(?:" + pattern + ")$"
	}
	if !regexp.MustCompile(pattern).MatchString(v.Str()) {
		t.violation(e, c.Property, "check", fmt.Sprintf("%q does not match %s", v.Str(), c.Pattern))
	}
}

// endpoints checks that both nodes of an edge exist.
func (t *tx) endpoints(e *entity) {
	if t.g.fault == EndpointUnchecked {
		return
	}
	for _, field := range []string{"from", "to"} {
		if t.after.node(e, field == "to") == nil {
			t.report(e, field, &engine.ConstraintViolation{Entity: "edge", Type: e.typ, ID: e.id, Property: field,
				Rule: "endpoint", Detail: "there is no node " + exportEnd(e.part(field))})
		}
	}
}

// check checks the constraints that involve more than one entity.
func (t *tx) check() {
	t.after.eachType(func(kind plan.Entity, typ string) { t.checkValid(kind, typ, t.after.sorted(kind, typ), t.violation) })
	for _, n := range t.after.schema.Nodes {
		for _, u := range n.Unique {
			t.checkUnique(plan.Node, n.Name, u)
		}
	}
	for _, e := range t.after.schema.Edges {
		for _, u := range e.Unique {
			t.checkUnique(plan.Edge, e.Name, u)
		}
		if e.Card != nil {
			t.checkCardinality(e)
		}
	}
}

// checkUnique reports entities that share unique values. Tuples with a null are exempt. It reports
// both entities of a pair, because either may be the unwanted one.
func (t *tx) checkUnique(kind plan.Entity, typ string, names []string) {
	if t.g.fault == UniqueUnchecked {
		return
	}
	all := t.after.sorted(kind, typ)
	for i, a := range all {
		for _, b := range all[:i] {
			if t.sameTuple(a, b, names) {
				t.violation(a, "", "unique", "another entity has the same "+strings.Join(names, ", "))
				t.violation(b, "", "unique", "another entity has the same "+strings.Join(names, ", "))
			}
		}
	}
}

// sameTuple reports whether two entities have the same values, none of them null.
func (t *tx) sameTuple(a, b *entity, names []string) bool {
	for _, name := range names {
		v, w := a.member(name), b.member(name)
		if t.g.fault == UniqueEndByID && (name == "src" || name == "dst") && v.IsList() {
			v, w = v.Elems()[1], w.Elems()[1]
		}
		if (v.IsNull() || w.IsNull()) && t.g.fault != UniqueNulls || !same(v, w) {
			return false
		}
	}
	return true
}

// same reports whether two values are equal under the operator =, as 0 and -0 are. Null is the same as null, and
// lists are the same if their elements are.
func same(a, b value.Value) bool {
	if a.IsList() && b.IsList() {
		return slices.EqualFunc(a.Elems(), b.Elems(), same)
	}
	if c, ok := value.Compare(a, b); ok {
		return c == 0
	}
	return value.Equal(a, b)
}

// member returns the value of a name in a unique rule: a property, or an endpoint of an edge.
func (e *entity) member(name string) value.Value {
	if e.kind == plan.Edge {
		switch name {
		case "src":
			return e.part("from")
		case "dst":
			return e.part("to")
		}
	}
	return e.props[name]
}

// checkCardinality counts the edges of every source node that the write touched and that still
// exists.
func (t *tx) checkCardinality(typ *catalog.Edge) {
	for _, source := range t.after.sources(typ) {
		if !t.touches(typ, source) {
			continue
		}
		out := t.outgoing(typ, source)
		few := len(out) < typ.Card.Min && t.g.fault != MinCardUnchecked
		many := typ.Card.Max >= 0 && len(out) > typ.Card.Max && t.g.fault != MaxCardUnchecked
		if !few && !many {
			continue
		}
		broken := &engine.ConstraintViolation{Entity: "edge", Type: typ.Name, ID: source.id, Rule: "cardinality",
			Detail: fmt.Sprintf("%d edges lead from %s %q", len(out), source.typ, source.id)}
		t.errs = append(t.errs, broken)
		for _, e := range out {
			if t.lines[e] > 0 {
				t.report(e, "", broken)
			}
		}
	}
}

// keyID returns the id of a keyed node: the text of its key, or for several key properties a JSON
// array of their texts.
func keyID(n *catalog.Node, props map[string]value.Value) string {
	texts := make([]string, len(n.Key))
	for i, name := range n.Key {
		texts[i] = value.Text(props[name])
	}
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(texts); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// convert converts v to the type t. A number may change its kind if its value fits.
func convert(v value.Value, t value.Type) (value.Value, error) {
	misfit := fmt.Errorf("the value is %s, but the property is %s", v.Type(), t)
	if v.IsList() != t.List {
		return value.Null, misfit
	}
	if t.List {
		elems := make([]value.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			c, err := convert(e, t.Elem())
			if err != nil {
				return value.Null, err
			}
			elems[i] = c
		}
		return value.OfList(t.Kind, elems), nil
	}
	if fits(v, t.Required()) {
		return v, nil
	}
	if !v.Kind().IsNumeric() || !t.Kind.IsNumeric() {
		return value.Null, misfit
	}
	within := func(low, high value.Value) bool {
		a, ok := value.Compare(v, low)
		b, okb := value.Compare(v, high)
		return ok && okb && a >= 0 && b <= 0
	}
	bounds := map[value.Kind][2]value.Value{
		value.I32: {value.OfI32(math.MinInt32), value.OfI32(math.MaxInt32)},
		value.I64: {value.OfI64(math.MinInt64), value.OfI64(math.MaxInt64)},
		value.U32: {value.OfU32(0), value.OfU32(math.MaxUint32)},
		value.U64: {value.OfU64(0), value.OfU64(math.MaxUint64)},
		value.F32: {value.OfF32(-math.MaxFloat32), value.OfF32(math.MaxFloat32)},
		value.F64: {value.OfF64(-math.MaxFloat64), value.OfF64(math.MaxFloat64)},
	}[t.Kind]
	if !within(bounds[0], bounds[1]) {
		return value.Null, fmt.Errorf("%s is out of the range of %s", value.Text(v), t.Kind)
	}
	if v.Kind().IsFloat() && t.Kind.IsInteger() && v.Float() != math.Trunc(v.Float()) {
		return value.Null, fmt.Errorf("%s is not an integer", value.Text(v))
	}
	switch t.Kind {
	case value.F64:
		return value.OfF64(toFloat(v)), nil
	case value.F32:
		return value.OfF32(float32(toFloat(v))), nil
	}
	n := v.Bits()
	if v.Kind().IsFloat() {
		if n = uint64(int64(v.Float())); v.Float() >= 1<<63 {
			n = uint64(v.Float())
		}
	}
	return value.OfBits(t.Kind, n), nil
}
