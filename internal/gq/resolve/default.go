package resolve

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// defaultValue checks @default, and adds its value to the property.
func (b *builder) defaultValue(prop *catalog.Property, a *syntax.Annotation) {
	if k := prop.Type.Kind; k == value.Blob || k == value.Vector {
		b.fault(BadDefault, a.Span(), "remove it, or use @backfill", "@default needs a scalar or a list of scalars, but %s is %s", prop.Name, prop.Type)
		return
	}
	var lit *syntax.Literal
	if len(a.Args) == 1 && a.Args[0].Key == nil {
		lit, _ = a.Args[0].Literal.(*syntax.Literal)
	}
	if lit == nil {
		b.fault(BadDefault, a.Span(), "write @default(value), with a literal", "the argument of @default must be one literal of type %s", prop.Type.Required())
		return
	}
	v, help, err := check.Literal(lit, prop.Type)
	if err != nil {
		b.fault(BadDefault, lit.Span(), help, "bad @default of %s: %v", prop.Name, err)
		return
	}
	prop.Default = &catalog.Literal{Value: v}
}

// backfill is a property with @backfill.
type backfill struct {
	typ  syntax.Decl // the type
	prop *catalog.Property
	at   diag.Span // of the annotation, or of the type's name if the property is inherited
}

// fillings checks the defaults of a type against its rules, and notes its backfills. The argument n is nil for an edge
// type.
func (b *builder) fillings(d syntax.Decl, members []syntax.Member, props []*catalog.Property, lookup func(string) *catalog.Property, n *catalog.Node) {
	spans := map[string]map[string]diag.Span{}
	for _, m := range members {
		p, ok := m.(*syntax.Property)
		if !ok || lookup(p.Name.Value) == nil {
			continue
		}
		for _, a := range p.Annotations {
			if name := a.Name.Value; name == "default" || name == "backfill" {
				if spans[p.Name.Value] == nil {
					spans[p.Name.Value] = map[string]diag.Span{}
				}
				spans[p.Name.Value][name] = a.Span()
			}
		}
	}
	span := func(p *catalog.Property, annotation string) diag.Span {
		if at, ok := spans[p.Name][annotation]; ok {
			return at
		}
		switch d := d.(type) {
		case *syntax.Node:
			return syntax.SpanOf(d.Name)
		case *syntax.Edge:
			return syntax.SpanOf(d.Name)
		case *syntax.Interface:
		}
		return diag.Span{}
	}
	for _, p := range props {
		b.step(1)
		if p.Backfill != nil {
			p.Backfill = &catalog.Backfill{Text: p.Backfill.Text} // an inherited one belongs to its interface
			b.fills = append(b.fills, backfill{d, p, span(p, "backfill")})
		}
		isKey := n != nil && slices.Contains(n.Key, p.Name)
		if isKey && p.Backfill != nil {
			b.fault(BadDefault, span(p, "backfill"), "remove it", "%s is part of the key, and a key cannot be computed", p.Name)
		}
		if p.Default == nil {
			continue
		}
		at := span(p, "default")
		if isKey {
			b.fault(BadDefault, at, "remove it", "%s is part of the key, and every node needs a key of its own", p.Name)
			continue
		}
		if n == nil {
			continue
		}
		for _, r := range n.Ranges {
			if r.Property == p.Name {
				if err := r.Bounds().Check(p.Default.Value); err != nil {
					b.fault(BadDefault, at, "change the default or the @range", "the @default of %s is not allowed: %v", p.Name, err)
				}
			}
		}
		for _, c := range n.Checks {
			if c.Property == p.Name && !check.Matches(c.Pattern, p.Default.Str()) {
				b.fault(BadDefault, at, "change the default or the @check", "the @default of %s does not match %q", p.Name, c.Pattern)
			}
		}
	}
}

// backfills checks the expressions of @backfill, and adds their plans.
func (b *builder) backfills() {
	if len(b.faults) > 0 {
		return // the types of the properties may be wrong
	}
	for _, f := range b.fills {
		var entity, name = "node", ""
		switch d := f.typ.(type) {
		case *syntax.Node:
			name = d.Name.Value
		case *syntax.Edge:
			entity, name = "edge", d.Name.Value
		case *syntax.Interface:
		}
		plan, message, help := check.Backfill(b.meter, b.schema, entity == "edge", name, f.prop)
		if message != "" {
			b.fault(BadDefault, f.at, help, "bad @backfill of %s: %s", f.prop.Name, message)
			continue
		}
		f.prop.Backfill.Plan = plan
	}
	b.backfillCycle()
}

// backfillCycle reports a @backfill that needs its own value: the first one of the first cycle that it finds.
func (b *builder) backfillCycle() {
	if len(b.faults) > 0 {
		return // a plan may be missing
	}
	w := fillWalk{b: b, at: map[fillName]int{}, reads: make([][]string, len(b.fills)), state: make([]fillState, len(b.fills))}
	for i, f := range b.fills {
		w.at[fillName{f.typ, f.prop.Name}] = i
	}
	for i := range b.fills {
		if cycle := w.visit(i); cycle != nil {
			f, reads := b.fills[slices.Min(cycle)], w.reads[slices.Min(cycle)]
			b.fault(BadDefault, f.at, "compute one of them from other properties", "bad @backfill of %s: its value depends on itself, because it reads %s", f.prop.Name, strings.Join(reads, ", "))
			return
		}
	}
}

// fillWalk walks from backfills to those whose properties they read. It visits each one once.
type fillWalk struct {
	b     *builder
	at    map[fillName]int // positions in b.fills
	reads [][]string       // by position: the properties that the expression reads, once it is visited
	state []fillState      // by position
	path  []int            // positions from where the walk began to where it is
}

// fillName names a property with @backfill.
type fillName struct {
	typ  syntax.Decl
	prop string
}

// fillState is how far the walk is with a backfill.
type fillState uint8

const (
	unvisited fillState = iota
	onPath
	visited
)

// visit walks on from the backfill at a position. It returns the positions of a cycle, or nil if it leads to none.
func (w *fillWalk) visit(at int) (cycle []int) {
	switch w.state[at] {
	case visited:
		return nil
	case onPath:
		return w.path[slices.Index(w.path, at):]
	}
	f := w.b.fills[at]
	w.reads[at] = check.BackfillReads(f.prop)
	w.b.step(1 + len(w.reads[at]))
	w.state[at], w.path = onPath, append(w.path, at)
	for _, name := range w.reads[at] {
		if next, ok := w.at[fillName{f.typ, name}]; ok {
			if cycle := w.visit(next); cycle != nil {
				return cycle
			}
		}
	}
	w.state[at], w.path = visited, w.path[:len(w.path)-1]
	return nil
}
