package enginetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file draws valid times: types with @valid, their values, and reads that are about a time. The random numbers are those of d.validity, and most seeds
// draw none of it, so that the scripts of the other seeds stay as they are.

// The names of the properties that say when an entity is valid.
const (
	sinceName = "since"
	untilName = "until"
)

// drawValidities gives some types of the first schema a valid time.
func (d *drawer) drawValidities(s *catalog.Schema) {
	if !d.validity.percent(40) {
		return
	}
	for _, n := range s.Nodes {
		if d.validity.percent(50) {
			n.Valid = d.drawValidity(&n.Properties, nil)
		}
	}
	for _, e := range s.Edges {
		if d.validity.percent(70) {
			e.Valid = d.drawValidity(&e.Properties, nil)
			if d.validity.percent(20) {
				e.Unique = append(e.Unique, []string{"src", "dst", sinceName})
			}
		}
	}
	s.Index()
}

// drawValidity adds properties for a valid time, unless there are such names. The first of them has a default, which may be nil.
func (d *drawer) drawValidity(props *[]*catalog.Property, initial *catalog.Literal) *catalog.Validity {
	if slices.ContainsFunc(*props, func(p *catalog.Property) bool { return p.Name == sinceName || p.Name == untilName }) {
		return nil
	}
	t := value.Of(value.Date)
	if initial != nil {
		t = initial.Type()
	} else if d.validity.percent(40) {
		t = value.Of(value.DateTime)
	}
	since, until := property(sinceName, t), property(untilName, t.Optional())
	since.Default = initial
	*props = append(*props, since, until)
	return &catalog.Validity{Since: sinceName, Until: untilName}
}

// evolveValidities changes the valid times of a new schema, and removes those that no longer fit the properties.
func (d *drawer) evolveValidities(s *catalog.Schema) {
	change := func(v *catalog.Validity, props *[]*catalog.Property) *catalog.Validity {
		kept := mendValidity(v, *props)
		if !d.validity.percent(15) {
			return kept
		}
		if kept != nil {
			return nil
		}
		if kept = mendValidity(&catalog.Validity{Since: sinceName, Until: untilName}, *props); kept != nil {
			return kept
		}
		return d.drawValidity(props, &catalog.Literal{Value: d.day(0, value.Date)})
	}
	for _, n := range s.Nodes {
		n.Valid = mendValidity(n.Valid, n.Properties)
		if len(n.Implements) == 0 {
			n.Valid = change(n.Valid, &n.Properties)
		}
	}
	for _, e := range s.Edges {
		e.Valid = change(e.Valid, &e.Properties)
	}
	s.Index()
}

// mendValidities mends the valid times of all types, and indexes the schema.
func mendValidities(s *catalog.Schema) {
	for _, n := range s.Nodes {
		n.Valid = mendValidity(n.Valid, n.Properties)
	}
	for _, e := range s.Edges {
		e.Valid = mendValidity(e.Valid, e.Properties)
	}
	s.Index()
}

// mendValidity returns a valid time with the new names of its properties, or nil if they have other types now.
func mendValidity(v *catalog.Validity, props []*catalog.Property) *catalog.Validity {
	if v == nil {
		return nil
	}
	find := func(name string) *catalog.Property {
		at := slices.IndexFunc(props, func(p *catalog.Property) bool { return p.Name == name })
		if at < 0 {
			at = slices.IndexFunc(props, func(p *catalog.Property) bool { return p.RenameFrom == name })
		}
		if at < 0 {
			return nil
		}
		return props[at]
	}
	since, until := find(v.Since), find(v.Until)
	if since == nil || until == nil || since == until || !v.Fits(since.Type, until.Type) {
		return nil
	}
	return &catalog.Validity{Since: since.Name, Until: until.Name}
}

// times returns the drawer of valid times. A drawer that belongs to another one is its own.
func (d *drawer) times() *drawer {
	if d.validity != nil {
		return d.validity
	}
	return d
}

// day returns a day in March 2024, or an instant within it.
func (d *drawer) day(n int, kind value.Kind) value.Value {
	at := time.Date(2024, 3, 1+n, 0, 0, 0, 0, time.UTC)
	if kind == value.Date {
		days, err := value.DateFromDays(at.Unix() / 86400)
		must(err)
		return value.OfDate(days)
	}
	return value.OfDateTime(value.DateTimeOf(at.Add(time.Duration(d.times().IntN(3)) * time.Microsecond)))
}

// validityOf returns the valid time of a type in the current schema, or nil.
func (d *drawer) validityOf(kind plan.Entity, typ string) *catalog.Validity {
	if d.schema == nil {
		return nil
	}
	if kind == plan.Edge {
		if e := d.schema.Edge(typ); e != nil {
			return e.Valid
		}
	} else if n := d.schema.Node(typ); n != nil {
		return n.Valid
	}
	return nil
}

// timeOf draws a value of a property that says when an entity is valid. It reports false for other properties.
func (d *drawer) timeOf(typ string, p *catalog.Property) (value.Value, bool) {
	if p.Name != sinceName && p.Name != untilName || p.Type.List || p.Type.Kind != value.Date && p.Type.Kind != value.DateTime {
		return value.Null, false
	}
	if p.Name == sinceName {
		return d.day(d.times().IntN(6), p.Type.Kind), true
	}
	if p.Type.Nullable && d.times().percent(30) {
		return value.Null, true
	}
	return d.day(4+d.times().IntN(7), p.Type.Kind), true
}

// orderTimes mostly lets a new entity begin before it ends.
func (d *drawer) orderTimes(kind plan.Entity, typ string, props set) {
	v := d.validityOf(kind, typ)
	if v == nil || d.times().percent(3) {
		return
	}
	since, _ := props[v.Since].(value.Value)
	until, _ := props[v.Until].(value.Value)
	if order, ok := value.Compare(since, until); ok && order >= 0 {
		delete(props, v.Until)
	}
}

// drawValid lets a read be about a time, if the schema has valid times. It returns the arguments with those for the time.
func (d *drawer) drawValid(q *plan.Query, args engine.Args) engine.Args {
	has := slices.ContainsFunc(d.schema.Nodes, func(n *catalog.Node) bool { return n.Valid != nil }) || slices.ContainsFunc(d.schema.Edges, func(e *catalog.Edge) bool { return e.Valid != nil })
	if !has || !d.validity.percent(60) {
		return args
	}
	at := func(n int) plan.Expr {
		v := d.day(n, pick(d.validity, []value.Kind{value.Date, value.DateTime}))
		switch draw := d.validity.IntN(10); {
		case draw == 0:
			return plan.Now{}
		case draw < 4:
			q.Params = append(q.Params, plan.Param{Name: fmt.Sprintf("valid%d", len(q.Params)), Type: v.Type()})
			args = append(args, v)
			return plan.ParamRef{Index: len(q.Params) - 1}
		}
		return plan.Lit{Value: v}
	}
	from := d.validity.IntN(11)
	q.Read.Valid = &plan.Valid{From: at(from)}
	if d.validity.percent(30) {
		q.Read.Valid.To = at(from + d.validity.IntN(4))
	}
	return args
}
