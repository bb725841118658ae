package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
)

// drawFillings gives some properties of a schema a default or a backfill, and removes those that do not fit the schema.
// The schema follows the schema `before`, which is nil for the first one of a graph.
func (d *drawer) drawFillings(s, before *catalog.Schema) {
	s.Index()
	for _, n := range s.Nodes {
		d.fillProperties(s, before, plan.Node, n.Name, n.Properties, n.Key)
	}
	for _, e := range s.Edges {
		d.fillProperties(s, before, plan.Edge, e.Name, e.Properties, nil)
	}
}

// fillProperties draws the defaults and backfills of the properties of a type.
func (d *drawer) fillProperties(s, before *catalog.Schema, kind plan.Entity, typ string, props []*catalog.Property, key []string) {
	for _, p := range props {
		if slices.Contains(key, p.Name) {
			p.Default, p.Backfill = nil, nil
			continue
		}
		defaults, backfills := 12, 0
		if before != nil {
			defaults, backfills = 3, 3
			if !declared(before, p) {
				defaults, backfills = 45, 45
			}
		}
		if d.rare.percent(defaults) && p.Type.Kind != value.Blob && p.Type.Kind != value.Vector {
			required := *p
			required.Type.Nullable = false
			p.Default = &catalog.Literal{Value: d.rare.value(typ, &required)}
		}
		if p.Default != nil && !fitsDefault(s, kind, typ, p) {
			p.Default = nil
		}
		if d.rare.percent(backfills) {
			p.Backfill = d.backfillText(p, props)
		}
		if p.Backfill == nil {
			continue
		}
		p.Backfill = &catalog.Backfill{Text: p.Backfill.Text}
		encoded, message, _ := check.Backfill(nil, s, kind == plan.Edge, typ, p)
		if p.Backfill.Plan = encoded; message != "" {
			p.Backfill = nil // for example because another property lost its name
		}
	}
}

// fitsDefault reports whether the type of a property and the rules of its node type allow its default.
func fitsDefault(s *catalog.Schema, kind plan.Entity, typ string, p *catalog.Property) bool {
	v := p.Default.Value
	if n := s.Node(typ); kind == plan.Node {
		breaks := slices.ContainsFunc(n.Ranges, func(r catalog.Range) bool { return r.Property == p.Name && r.Bounds().Check(v) != nil }) ||
			slices.ContainsFunc(n.Checks, func(c catalog.Check) bool {
				return c.Property == p.Name && v.Kind() == value.String && !check.Matches(c.Pattern, v.Str())
			})
		if breaks {
			return false
		}
	}
	if v.Kind() != p.Type.Kind || v.IsList() != p.Type.List {
		return false
	}
	elems := []value.Value{v}
	if v.IsList() {
		elems = v.Elems()
	}
	if p.Type.Kind == value.Decimal && slices.ContainsFunc(elems, func(e value.Value) bool { return p.Type.CheckDecimal(e) != nil }) {
		return false
	}
	return p.Type.Enum == nil || !slices.ContainsFunc(elems, func(e value.Value) bool { return !slices.Contains(p.Type.Enum, e.Str()) })
}

// declared reports whether a type of the schema has the property, perhaps under its old name.
func declared(s *catalog.Schema, p *catalog.Property) bool {
	has := func(props []*catalog.Property) bool {
		return slices.ContainsFunc(props, func(q *catalog.Property) bool { return q.Name == p.Name || q.Name == p.RenameFrom })
	}
	return slices.ContainsFunc(s.Nodes, func(n *catalog.Node) bool { return has(n.Properties) }) ||
		slices.ContainsFunc(s.Edges, func(e *catalog.Edge) bool { return has(e.Properties) })
}

// backfillText draws an expression for a property over the others, or nil.
func (d *drawer) backfillText(p *catalog.Property, props []*catalog.Property) *catalog.Backfill {
	var forms []string
	for _, q := range props {
		same := q.Type.Kind == p.Type.Kind && q.Type.List == p.Type.List
		switch number := p.Type.Kind.IsNumeric() && q.Type.Kind.IsNumeric() && !p.Type.List && !q.Type.List; {
		case q == p || q.Type.Kind == value.Blob:
		case number:
			forms = append(forms, q.Name+" + 1", "7 % "+q.Name, q.Name+" * "+q.Name, "coalesce("+q.Name+", 2)")
		case same && p.Type.Kind == value.String && !p.Type.List:
			forms = append(forms, q.Name, q.Name+` + "a"`, "coalesce("+q.Name+`, "p")`)
		case same:
			forms = append(forms, q.Name)
		case p.Type.Kind == value.String && !p.Type.List && !q.Type.List:
			forms = append(forms, "string("+q.Name+")")
		}
	}
	if forms == nil {
		return nil
	}
	return &catalog.Backfill{Text: pick(d.rare, forms)}
}

// drawFilled draws schemas that add a property with a default or a backfill to a node type and then change these, with an
// update of the property in one node. The other side deletes the node, or writes other nodes of the type.
func (d *drawer) drawFilled() (theirs, ours []step) {
	n := pick(d.rare, d.schema.Nodes)
	have := d.ids[key(plan.Node, n.Name)]
	if !d.evolving || len(have) == 0 {
		return nil, nil
	}
	id := pick(d.rare, have)
	s, err := catalog.Decode(catalog.Encode(d.schema))
	must(err)
	typ := s.Node(n.Name)
	p := property(d.fresh("p"), i32Type)
	p.Type.Nullable = d.rare.percent(60)
	backfills, sets := 15, 60
	if d.rare.percent(50) {
		backfills, sets, p.Type.Nullable = 90, 15, true
	}
	typ.Properties = append(typ.Properties, p)
	fill := func() {
		p.Default, p.Backfill = nil, nil
		if d.rare.percent(60) {
			p.Default = &catalog.Literal{Value: value.OfI32(int32(d.rare.IntN(3)))}
		}
		if d.rare.percent(backfills) {
			if p.Backfill = d.backfillText(p, typ.Properties); p.Backfill == nil || d.rare.percent(60) {
				p.Backfill = &catalog.Backfill{Text: "1 + 1"} // unlike the others seldom null, and of no value of the row
			}
		}
	}
	apply := func() {
		s.Index()
		if p.Backfill != nil {
			p.Backfill.Plan, _, _ = check.Backfill(nil, s, false, n.Name, p)
		}
		next, err := catalog.Decode(catalog.Encode(s))
		must(err)
		theirs = append(theirs, step{migration: &migration{schema: next, allow: true}})
	}
	set := func() {
		if d.rare.percent(sets) {
			q := newMutation(s).update(n.Name, set{p.Name: d.rare.IntN(3)}, "id", plan.Eq, id).query()
			theirs = append(theirs, step{query: q})
		}
	}
	fill()
	apply()
	set()
	for range d.rare.IntN(3) {
		switch {
		case d.rare.percent(30):
			changed := *p
			changed.Name, changed.RenameFrom = d.fresh("p"), p.Name
			typ.Properties[len(typ.Properties)-1], p = &changed, &changed
		case d.rare.percent(30):
			p.Type.Kind = pick(d.rare, []value.Kind{value.I64, value.String})
			p.Default, p.Backfill = nil, nil
		case p.Type.Kind == value.I32:
			fill()
		}
		apply()
		if p.Type.Kind == value.I32 {
			set()
		}
	}
	ours = []step{{query: newMutation(d.schema).remove(n.Name, "id", plan.Eq, id).query()}}
	if name, ok := d.freeProperty(n.Properties, n.Key); ok && d.rare.percent(30) {
		ours = []step{d.setProperty(plan.Node, n.Name, pick(d.rare, have), n.Property(name))}
	}
	return theirs, ours
}
