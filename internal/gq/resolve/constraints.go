package resolve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// nodeConstraints collects the constraints on the properties and then the constraints of the
// body.
func (b *builder) nodeConstraints(d *syntax.Node, n *catalog.Node) {
	rules := b.ownRules(d.Members, n.Property)
	for _, p := range n.Properties {
		tr := b.traits[p]
		if tr.key && b.canConstrain(p, "key", tr.span) {
			b.key(n, []string{p.Name}, tr.span)
		}
		if tr.unique && b.canConstrain(p, "unique", tr.span) {
			n.Unique = append(n.Unique, []string{p.Name})
		}
		if tr.index && b.canConstrain(p, "index", tr.span) {
			n.Index = append(n.Index, []string{p.Name})
		}
	}
	for _, m := range d.Members {
		switch m := m.(type) {
		case *syntax.Property:
		case *syntax.ListConstraint:
			names, ok := b.constraintNames(m, n.Properties, n.Property, nil)
			if !ok {
				continue
			}
			if m.Kind.Value != "key" {
				b.once(rules, list(m.Kind.Value, names), m.Span())
			}
			switch m.Kind.Value {
			case "key":
				b.key(n, names, m.Span())
			case "unique":
				n.Unique = append(n.Unique, names)
			case "index":
				n.Index = append(n.Index, names)
			}
		case *syntax.RangeConstraint:
			if p := b.propertyNamed(m.Name, n.Properties, n.Property); p != nil {
				b.bounds(n, p, m, rules)
			}
		case *syntax.CheckConstraint:
			if p := b.propertyNamed(m.Name, n.Properties, n.Property); p != nil {
				b.pattern(n, p, m, rules)
			}
		}
	}
}

// edgeConstraints adds the constraints in the body of an edge type, and reports those that edges
// cannot have.
func (b *builder) edgeConstraints(d *syntax.Edge, e *catalog.Edge) {
	rules := b.ownRules(d.Members, e.Property)
	for _, p := range e.Properties {
		tr := b.traits[p]
		if tr.key {
			b.fault(EdgeConstraint, tr.span, "use @unique", "an edge cannot have a key")
		}
		if tr.unique && b.canConstrain(p, "unique", tr.span) {
			e.Unique = append(e.Unique, []string{p.Name})
		}
		if tr.index && b.canConstrain(p, "index", tr.span) {
			e.Index = append(e.Index, []string{p.Name})
		}
	}
	for _, m := range d.Members {
		switch m := m.(type) {
		case *syntax.Property:
		case *syntax.ListConstraint:
			if m.Kind.Value == "key" {
				b.fault(EdgeConstraint, m.Span(), "use @unique", "an edge cannot have a key")
				continue
			}
			names, ok := b.constraintNames(m, e.Properties, e.Property, []string{"src", "dst"})
			if ok {
				b.once(rules, list(m.Kind.Value, names), m.Span())
			}
			switch {
			case !ok:
			case m.Kind.Value == "unique":
				e.Unique = append(e.Unique, names)
			default:
				e.Index = append(e.Index, names)
			}
		case *syntax.RangeConstraint:
			b.fault(EdgeConstraint, m.Span(), "", "the body of an edge cannot contain @range")
		case *syntax.CheckConstraint:
			b.fault(EdgeConstraint, m.Span(), "", "the body of an edge cannot contain @check")
		}
	}
}

// ownRules returns the positions of the @unique and @index annotations of the properties that a type declares itself, by
// their text in the body of the type.
func (b *builder) ownRules(members []syntax.Member, lookup func(string) *catalog.Property) map[string]diag.Span {
	rules := map[string]diag.Span{}
	for _, m := range members {
		p, ok := m.(*syntax.Property)
		if !ok || lookup(p.Name.Value) == nil {
			continue
		}
		for _, a := range p.Annotations {
			b.step(1)
			if kind := a.Name.Value; kind == "unique" || kind == "index" {
				if rule := list(kind, []string{p.Name.Value}); rules[rule] == (diag.Span{}) {
					rules[rule] = a.Span()
				}
			}
		}
	}
	return rules
}

// list returns the text of a rule over properties.
func list(kind string, names []string) string {
	return "@" + kind + "(" + strings.Join(names, ", ") + ")"
}

// once reports a rule that a type has a second time. The map `rules` contains the positions of the earlier rules by their
// text; once adds this rule to it. The catalog keeps both, so that stored schemas keep their digest.
func (b *builder) once(rules map[string]diag.Span, rule string, at diag.Span) {
	if first, again := rules[rule]; again {
		b.fault(RepeatedAnnotation, at, "remove one of them", "%s occurs twice here, first at %s", rule, first)
		return
	}
	rules[rule] = at
}

// key sets the key of a node type, unless it has one or a property is nullable.
func (b *builder) key(n *catalog.Node, names []string, at diag.Span) {
	if n.Key != nil {
		b.fault(SeveralKeys, at, "write one @key(a, b) in the body for a composite key", "%s already has a key", n.Name)
		return
	}
	for _, name := range names {
		if n.Property(name).Type.Nullable {
			b.fault(NullableKey, at, "remove the ? from the type of "+name, "the key property %s is nullable", name)
		}
	}
	if n.Key = slices.Sorted(slices.Values(names)); !slices.Equal(n.Key, names) {
		n.KeyOrder = names
	}
}

// constraintNames resolves the names of a constraint over properties. The names in `extra` are
// allowed too.
func (b *builder) constraintNames(c *syntax.ListConstraint, props []*catalog.Property, lookup func(string) *catalog.Property, extra []string) (names []string, ok bool) {
	ok = true
	seen := make(map[string]bool, len(c.Names))
	for _, ref := range c.Names {
		b.step(1)
		name := ref.Name.Value
		if seen[name] {
			b.fault(DuplicateProperty, ref.Span(), "", "property %s is listed twice", name)
			ok = false
			continue
		}
		seen[name] = true
		names = append(names, name)
		if slices.Contains(extra, name) {
			continue
		}
		p := b.propertyNamed(ref.Name, props, lookup)
		ok = p != nil && b.canConstrain(p, c.Kind.Value, ref.Span()) && ok
	}
	return names, ok
}

// propertyNamed returns the property with a name. It reports an error and returns nil if there is
// none.
func (b *builder) propertyNamed(t syntax.Token, props []*catalog.Property, lookup func(string) *catalog.Property) *catalog.Property {
	if p := lookup(t.Value); p != nil {
		return p
	}
	help := b.suggest(t.Value, func() []string { return propertyNames(props) })
	b.fault(UnknownProperty, syntax.SpanOf(t), help, "the type has no property %s", t.Value)
	return nil
}

// canConstrain reports whether a property can be part of a key, a unique tuple or an index.
func (b *builder) canConstrain(p *catalog.Property, kind string, at diag.Span) bool {
	unfit := !p.Type.Kind.IsComparable() || p.Type.List
	if kind == "index" { // a search index may be on lists of texts, and nearest searches vectors
		unfit = p.Type.Kind == value.Blob
	}
	if unfit {
		b.fault(UnfitConstraint, at, "", "@%s is not allowed on %s, which is %s", kind, p.Name, p.Type)
	}
	return !unfit
}

// bounds checks @range, and adds it to the node type. See once for `rules`.
func (b *builder) bounds(n *catalog.Node, p *catalog.Property, c *syntax.RangeConstraint, rules map[string]diag.Span) {
	if !p.Type.Kind.IsNumeric() && p.Type.Kind != value.Decimal || p.Type.List {
		b.fault(UnfitConstraint, c.Span(), "", "@range needs a numeric property, but %s is %s", p.Name, p.Type)
		return
	}
	ends, fault := syntax.BoundsOf(c.Min, c.Max, c.Span(), p.Type)
	if fault != nil {
		b.fault(BadRange, fault.Span, fault.Help, "%s", fault.Message)
		return
	}
	b.once(rules, "@range("+p.Name+", "+textOf(ends.Min)+".."+textOf(ends.Max)+")", c.Span())
	n.Ranges = append(n.Ranges, catalog.Range{Property: p.Name, Min: ends.Min, Max: ends.Max})
}

// textOf returns the text of an end of a range, or "" for none.
func textOf(end *value.Value) string {
	if end == nil {
		return ""
	}
	return value.Text(*end)
}

// pattern checks @check, and adds it to the node type. See once for `rules`.
func (b *builder) pattern(n *catalog.Node, p *catalog.Property, c *syntax.CheckConstraint, rules map[string]diag.Span) {
	if p.Type.Kind != value.String || p.Type.List {
		b.fault(UnfitConstraint, c.Span(), "", "@check needs a String property, but %s is %s", p.Name, p.Type)
		return
	}
	pattern, fault := syntax.PatternOf(c.Pattern)
	if fault != nil {
		b.fault(BadPattern, fault.Span, fault.Help, "%s", fault.Message)
		return
	}
	b.once(rules, "@check("+p.Name+", "+strconv.Quote(pattern.String())+")", c.Span())
	n.Checks = append(n.Checks, catalog.Check{Property: p.Name, Pattern: pattern.String()})
}
