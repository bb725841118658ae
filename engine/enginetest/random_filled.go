package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
)

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
