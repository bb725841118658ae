package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// migration is a step that applies a schema.
type migration struct {
	schema *catalog.Schema // the schema to apply
	allow  bool            // the option AllowDataLoss
	hard   bool            // the option Hard
}

func (m *migration) String() string {
	return fmt.Sprintf("apply schema (data loss allowed %t, hard %t)\n%s", m.allow, m.hard, schemaText(m.schema))
}

// drawMigration draws a schema: the current one with some changes, or an earlier one.
func (d *drawer) drawMigration() *migration {
	m := &migration{allow: d.percent(80), hard: d.percent(20)}
	d.schemas = append(d.schemas, d.schema)
	if d.percent(8) {
		m.schema = pick(d, d.schemas)
		return m
	}
	s, err := catalog.Decode(catalog.Encode(d.schema))
	must(err)
	for range d.between(1, 3) {
		d.evolve(s)
		for _, n := range s.Nodes {
			n.Index = someIndex(n.Properties)
		}
		s.Index()
	}
	if d.rare.percent(15) {
		d.swap(s)
	}
	d.reshape(s)
	d.digitize(s)
	if len(s.Interfaces) > 0 {
		d.evolveInterfaces(s)
		s.Index()
		d.move(s)
	}
	if len(s.Edges) == 0 {
		s.Edges = append(s.Edges, d.drawEdge(d.fresh("Link"), s.Nodes))
	}
	d.drawFillings(s, d.schema)
	d.evolveValidities(s)
	// Encode and decode the schema, so that an unresolved reference is found.
	m.schema, err = catalog.Decode(catalog.Encode(s))
	must(err)
	return m
}

// fresh returns a name that no type or property has had.
func (d *drawer) fresh(prefix string) string {
	d.named++
	return fmt.Sprintf("%s%d", prefix, 10+d.named)
}

// evolve makes one change to the schema.
func (d *drawer) evolve(s *catalog.Schema) {
	switch draw := d.IntN(100); {
	case draw < 8:
		name := d.fresh("Fruit")
		s.Nodes = append(s.Nodes, d.drawNode(name))
		return
	case draw < 14:
		e := d.drawEdge(d.fresh("Link"), s.Nodes)
		d.drawEnds(s, []*catalog.Edge{e})
		s.Edges = append(s.Edges, e)
		return
	case draw < 18 && len(s.Nodes) > 1:
		i := d.IntN(len(s.Nodes))
		name := s.Nodes[i].Name
		s.Nodes = slices.Delete(s.Nodes, i, i+1)
		s.Edges = slices.DeleteFunc(s.Edges, func(e *catalog.Edge) bool { return e.From == name || e.To == name })
		return
	case draw < 22 && len(s.Edges) > 0:
		i := d.IntN(len(s.Edges))
		s.Edges = slices.Delete(s.Edges, i, i+1)
		return
	case draw < 25:
		d.Shuffle(len(s.Nodes), func(i, j int) { s.Nodes[i], s.Nodes[j] = s.Nodes[j], s.Nodes[i] })
		return
	}
	if d.percent(65) || len(s.Edges) == 0 {
		d.evolveNode(s, pick(d, s.Nodes))
	} else {
		d.evolveEdge(s, pick(d, s.Edges))
	}
}

// evolveNode changes the node type n of schema s at random.
func (d *drawer) evolveNode(s *catalog.Schema, n *catalog.Node) {
	switch draw := d.IntN(100); {
	case draw < 14:
		d.rename(s, n)
	case draw < 18:
		n.Ranges, n.Checks = nil, nil
	case draw < 28:
		n.Unique = d.drawUnique(n.Properties)
	case draw < 36:
		for _, p := range n.Properties {
			ranged := slices.ContainsFunc(n.Ranges, func(r catalog.Range) bool { return r.Property == p.Name })
			if p.Type.Kind.IsNumeric() && !p.Type.List && !ranged {
				low := literal(1, p.Type)
				n.Ranges = append(n.Ranges, catalog.Range{Property: p.Name, Min: &low})
				return
			}
		}
	default:
		drop := func(name string) {
			n.Ranges = slices.DeleteFunc(n.Ranges, func(r catalog.Range) bool { return r.Property == name })
			n.Checks = slices.DeleteFunc(n.Checks, func(c catalog.Check) bool { return c.Property == name })
		}
		rename := func(was, now string) {
			for i := range n.Ranges {
				if n.Ranges[i].Property == was {
					n.Ranges[i].Property = now
				}
			}
			for i := range n.Checks {
				if n.Checks[i].Property == was {
					n.Checks[i].Property = now
				}
			}
			for i := range n.Key {
				if n.Key[i] == was {
					n.Key[i] = now
				}
			}
			slices.Sort(n.Key)
		}
		widen := func(p *catalog.Property) {
			for i := range n.Ranges {
				r := &n.Ranges[i]
				if r.Property == p.Name {
					low := literal(0, p.Type)
					*r = catalog.Range{Property: p.Name, Min: &low}
				}
			}
		}
		d.evolveProperties(n.Name, &n.Properties, &n.Unique, n.Key, drop, rename, widen)
	}
}

// rename gives the node type n of schema s another name.
func (d *drawer) rename(s *catalog.Schema, n *catalog.Node) {
	was := n.Name
	n.Name, n.RenameFrom = d.fresh("Fruit"), was
	for _, e := range s.Edges {
		if e.From == was {
			e.From = n.Name
		}
		if e.To == was {
			e.To = n.Name
		}
	}
}

// evolveEdge changes the edge type e of schema s at random.
func (d *drawer) evolveEdge(s *catalog.Schema, e *catalog.Edge) {
	switch draw := d.IntN(100); {
	case draw < 10:
		e.Name, e.RenameFrom = d.fresh("Link"), e.Name
	case draw < 18:
		e.Card = &catalog.Cardinality{Min: d.between(0, 1), Max: pick(d, []int{-1, 1, 2, 4})}
	case draw < 22:
		e.Card = nil
	case draw < 32:
		e.Unique = d.drawUnique(e.Properties)
	case draw < 38:
		e.From, e.FromInterface = pick(d, s.Nodes).Name, false
	default:
		none := func(*catalog.Property) {}
		d.evolveProperties(e.Name, &e.Properties, &e.Unique, nil, func(string) {}, func(string, string) {}, none)
	}
}

// evolveProperties changes one of the properties of a type. The functions drop, rename and widen
// update the rules that name the property, except unique rules.
func (d *drawer) evolveProperties(typ string, props *[]*catalog.Property, unique *[][]string, key []string,
	drop func(name string), rename func(was, now string), widen func(p *catalog.Property)) {
	if len(*props) == 0 || d.percent(30) {
		p := d.drawProperty(typ, d.IntN(1<<20))
		if d.percent(85) {
			p.Type = p.Type.Optional()
		}
		*props = slices.Insert(*props, d.IntN(len(*props)+1), p)
		return
	}
	p := pick(d, *props)
	isKey := slices.Contains(key, p.Name)
	switch draw := d.IntN(100); {
	case draw < 20 && !isKey && len(*props) > 1:
		*unique = slices.DeleteFunc(*unique, func(u []string) bool { return slices.Contains(u, p.Name) })
		*props = slices.DeleteFunc(*props, func(q *catalog.Property) bool { return p == q })
		drop(p.Name)
	case draw < 45:
		was := p.Name
		p.Name, p.RenameFrom = d.fresh("p"), was
		for _, u := range *unique {
			for i := range u {
				if u[i] == was {
					u[i] = p.Name
				}
			}
		}
		rename(was, p.Name)
	case draw < 56 && !isKey:
		if kinds := castable(p.Type); kinds != nil {
			p.Type.Kind, p.Type.Enum = pick(d, kinds), nil
			drop(p.Name)
		}
	case draw < 70:
		for _, t := range []value.Type{f64Type, i64Type, u64Type} {
			t.List, t.Nullable = p.Type.List, p.Type.Nullable
			if catalog.Widens(p.Type, t) && d.percent(60) {
				p.Type = t
				widen(p)
				return
			}
		}
	case draw < 80 && !isKey:
		p.Type.Nullable = !p.Type.Nullable
	case draw < 90 && p.Type.Enum != nil:
		p.Type.Enum = pick(d, [][]string{{"p", "q"}, {"p", "q", "r-1", "s_2", "t"}, {"s_2", "r-1", "q", "p"}, nil})
	default:
		d.Shuffle(len(*props), func(i, j int) { (*props)[i], (*props)[j] = (*props)[j], (*props)[i] })
	}
}

// castable lists the other kinds that have some of the values of a type. Casts from and to Decimals are drawn by
// drawer.digitize.
func castable(t value.Type) (kinds []value.Kind) {
	for k := range value.Kind(255) {
		to := value.Type{Kind: k, List: t.List}
		if k != t.Kind && k != value.Decimal && t.Kind != value.Decimal && t.CastsTo(to) != value.CastsNone {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// follow makes the current schema of the branch the schema of the next statements.
func (p *pair) follow() {
	if s, err := p.model.Schema(p.ctx, p.target()); err == nil {
		p.schema = s.Catalog
	}
}

// runMigration applies the schema to the engine and the model, and describes how they differ.
func (p *pair) runMigration(ctx context.Context, s step) string {
	apply := func(g engine.Graph) (*engine.SchemaChange, error) {
		return g.ApplySchema(ctx, sourceText, s.migration.schema,
			engine.SchemaOptions{WriteOptions: p.options(s, g), AllowDataLoss: s.migration.allow, Hard: s.migration.hard})
	}
	want, wantErr := apply(p.model)
	got, gotErr := apply(p.engine)
	p.follow()
	if difference := compareErrors(wantErr, gotErr); difference != "" || wantErr != nil {
		return difference
	}
	text := func(c *engine.SchemaChange) string {
		return fmt.Sprintf("%t %t %s %s\n%s", c.Supported, c.Destructive, c.From, c.To, &catalog.Migration{Steps: c.Steps})
	}
	if w, g := text(want), text(got); w != g {
		return fmt.Sprintf("the engine's change is %s\nthe model's %s", g, w)
	}
	return compareCommits(want.Commit, got.Commit)
}

// unfit reports whether a query does not fit the schema, which can happen in a shrunken script. If
// so, the result `difference` describes how the engine differs.
func unfit(want, got error) (unfit bool, difference string) {
	var w, g *engine.SchemaMismatch
	switch {
	case !errors.As(want, &w):
		return false, ""
	case !errors.As(got, &g):
		return true, fmt.Sprintf("the engine does not report that the query does not fit the schema (%v): %v", want, got)
	}
	return true, ""
}

// reshape sometimes gives a vector of the schema another length.
func (d *drawer) reshape(s *catalog.Schema) {
	if !d.reshapes.percent(20) {
		return
	}
	var vectors []*catalog.Property
	add := func(props []*catalog.Property) {
		for _, p := range props {
			if p.Type.Kind == value.Vector {
				vectors = append(vectors, p)
			}
		}
	}
	for _, n := range s.Nodes {
		add(n.Properties)
	}
	for _, e := range s.Edges {
		add(e.Properties)
	}
	if len(vectors) == 0 {
		return
	}
	p := pick(d.reshapes, vectors)
	p.Type.Dim = 5 - p.Type.Dim
	if d.reshapes.percent(80) {
		p.Type.Nullable = true
	}
}

// move sometimes gives an edge type of the schema another end: an interface that the node type there implements, another
// interface, or one of the node types that implement the interface there.
func (d *drawer) move(s *catalog.Schema) {
	if len(s.Edges) == 0 || !d.reshapes.percent(25) {
		return
	}
	e := pick(d.reshapes, s.Edges)
	end, isInterface := &e.From, &e.FromInterface
	if d.reshapes.percent(60) {
		end, isInterface = &e.To, &e.ToInterface
	}
	var interfaces, nodes []string
	if *isInterface {
		for _, n := range s.Implementers(*end) {
			nodes = append(nodes, n.Name)
			interfaces = append(interfaces, n.Implements...)
		}
	} else {
		interfaces = s.Node(*end).Implements
	}
	if names := interfaces; len(nodes) == 0 || d.reshapes.percent(50) {
		if len(names) > 0 {
			*end, *isInterface = pick(d.reshapes, names), true
		}
		return
	}
	*end, *isInterface = pick(d.reshapes, nodes), false
}

// resized returns a drawn vector, which has two components, with the length of a type.
func resized(v value.Value, t value.Type) value.Value {
	if t.Dim == 2 {
		return v
	}
	return value.OfVector(append(v.Vector()[:2:2], 1))
}

// digitTypes are the types that schema changes give to Decimals. Some drawn numbers do not fit into some of them.
var digitTypes = []value.Type{
	decimalType, value.DecimalOf(14, 5), value.DecimalOf(11, 2), value.DecimalOf(38, 3), value.DecimalOf(6, 3), value.DecimalOf(20, 0), value.DecimalOf(38, 18),
}

// digitize sometimes makes a property of the schema a Decimal, or gives a Decimal other digits or another kind.
func (d *drawer) digitize(s *catalog.Schema) {
	if !d.digits.percent(50) {
		return
	}
	var props []*catalog.Property
	add := func(list []*catalog.Property, key []string) {
		for _, p := range list {
			if slices.Contains(key, p.Name) || retyped(p.Type) == nil {
				continue
			}
			if props = append(props, p); p.Type.Kind != value.String {
				props = append(props, p, p, p) // a String is rarely a number
			}
		}
	}
	for _, n := range s.Nodes {
		add(n.Properties, n.Key)
	}
	for _, e := range s.Edges {
		add(e.Properties, nil)
	}
	if len(props) == 0 {
		return
	}
	p := pick(d.digits, props)
	p.Type, p.Default, p.Backfill = pick(d.digits, retyped(p.Type)), nil, nil
	for _, n := range s.Nodes {
		if slices.Contains(n.Properties, p) {
			n.Ranges = slices.DeleteFunc(n.Ranges, func(r catalog.Range) bool { return r.Property == p.Name })
			n.Checks = slices.DeleteFunc(n.Checks, func(c catalog.Check) bool { return c.Property == p.Name })
		}
	}
}

// retyped lists the other types that have some of the values of a type, if the one or the others are Decimals.
func retyped(t value.Type) (types []value.Type) {
	add := func(to value.Type) {
		to.List, to.Nullable = t.List, t.Nullable
		if !to.Equal(t) && t.CastsTo(to) != value.CastsNone {
			types = append(types, to)
		}
	}
	for _, to := range digitTypes {
		add(to)
	}
	if t.Kind == value.Decimal {
		for k := range value.Kind(255) {
			if k != value.Decimal {
				add(value.Of(k))
			}
		}
	}
	return types
}
