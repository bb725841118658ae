package load

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// syncer is what an applier knows in the mode sync, and in other loads that claim their lines for a source.
type syncer struct {
	opts    *engine.SyncOptions
	adds    bool                           // the mode is another one: the source keeps what a line leaves out
	found   map[*schema.Type]engine.Bitmap // by ordinal before the load: the entities in the input
	claimed map[string]int64               // by type: the entities that the source or nobody claimed before
	deleted map[string]int64               // by type: the deleted ones of these
	result  *engine.SyncResult
}

// claim says what a line with certain properties does to an entity with a certain membership.
type claim struct {
	text   string // the membership afterwards
	yields []bool // by property: the line has it, but another source owns it
	clears []bool // by property: the source owned it alone, and lets it go
	edited []int  // properties of the line that others have changed
	fault  *engine.ConstraintViolation
	field  string // the property of the fault
}

// yields reports, by property, whether the source yields it to other sources.
func (s *syncer) yields(t *schema.Type, c *schema.Schema) []bool {
	out := make([]bool, len(t.Props))
	for _, name := range s.opts.Yield {
		typ, prop, _ := strings.Cut(name, ".")
		if p, ok := t.Prop(prop); ok && c.Type(t.Entity, typ) == t {
			out[p] = true
		}
	}
	return out
}

// claim computes the claim of a line on an entity of type t. The text `was` is the entity's membership, and `sees` reports
// whether the line has a property.
func (s *syncer) claim(t *schema.Type, yields []bool, was *membership.Set, sees func(p int) bool) *claim {
	c := &claim{yields: make([]bool, len(t.Props)), clears: make([]bool, len(t.Props))}
	var own []string
	for p, prop := range t.Props {
		if !sees(p) || t.Identifies(p) {
			continue
		}
		owner := was.Owner(prop.Name, s.opts.Source)
		switch {
		case owner != "" && yields[p]:
			c.yields[p] = true
			continue
		case owner != "" && c.fault == nil:
			c.field = "data." + prop.Name
			c.fault = &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: prop.Name, Rule: "source",
				Detail: "source " + owner + " owns the property; leave it out, or yield " + t.Name + "." + prop.Name}
		}
		own = append(own, prop.Name)
		if slices.Contains(was.Edited, prop.Name) {
			c.edited = append(c.edited, p)
		}
	}
	slices.Sort(own)
	if s.adds {
		c.text = was.Add(s.opts.Source, own).String()
		return c
	}
	is := was.Claim(s.opts.Source, own)
	c.text = is.String()
	before, _ := was.Of(s.opts.Source)
	released(t, before, is, func(p int) { c.clears[p] = true })
	return c
}

// claim computes the claims of the lines of a batch.
func (f *filler) claim(b *batch, origins []origin) []*claim {
	known, yields := map[string]*claim{}, f.sync.yields(f.r.Type, f.tx.Schema())
	out := make([]*claim, len(origins))
	var key []byte
	b.claims = &claims{}
	for i, o := range origins {
		key = append(key[:0], b.seen.Raw(i)...)
		was := &membership.Set{Created: true}
		if o.ord != version.NoOrd {
			f.sync.find(f.r.Type, f.table, o.ord)
			text := f.table.Claims(o.ord)
			key, was = append(append(key, 'e'), text...), membership.Stored(text)
		}
		c := known[string(key)]
		if c == nil {
			c = f.sync.claim(f.r.Type, yields, was, func(p int) bool { return b.sees(i, p) })
			known[string(key)] = c
		}
		if out[i] = c; c.fault != nil {
			v := *c.fault
			if ids := b.idColumn(); ids != nil {
				v.ID = ids.Str(i)
			}
			f.fail(b.line(i), c.field, &v)
		}
		for _, p := range c.edited {
			if !value.Equal(b.props[p].Value(i), f.table.Value(o.ord, p)) {
				f.sync.result.Overwritten++
			}
		}
		b.claims.set(i, c.text)
	}
	return out
}

// find notes that an entity is in the input.
func (s *syncer) find(t *schema.Type, table *version.Table, ord uint32) {
	if s.adds {
		return
	}
	if s.found[t] == nil {
		s.found[t] = engine.NewBitmap(int(table.Ordinals()))
	}
	s.found[t].Set(int(ord))
}

// markUnchanged notes which rows of a batch leave their entity as it is.
func (f *filler) markUnchanged(b *batch, origins []origin, made []*claim) {
	t := f.r.Type
	from, to := f.tx.Table(f.tx.Schema().Nodes[t.From]), f.tx.Table(f.tx.Schema().Nodes[t.To])
	b.unchanged = engine.NewBitmap(len(origins))
	for i, o := range origins {
		if o.ord == version.NoOrd || made[i].text != f.table.Claims(o.ord) {
			continue
		}
		same := true
		for p := 0; p < len(b.props) && same; p++ {
			same = !b.sees(i, p) || value.Equal(b.props[p].Value(i), f.table.Value(o.ord, p))
		}
		if same && t.Entity == plan.Edge {
			src, dst := f.table.Ends(o.ord)
			same = from.ID(src) == view(b.from.Raw(i)) && to.ID(dst) == view(b.to.Raw(i))
		}
		if same {
			b.unchanged.Set(i)
		}
	}
}

// unchanged returns which rows of a chunk markUnchanged has found, by position in the chunk.
func (*applier) unchanged(r *Rows, c *chunk) []bool {
	rd, out := reader{Rows: r}, make([]bool, c.n)
	for i := range out {
		b, at := rd.at(c.row(i))
		out[i] = b.unchanged.Get(at)
	}
	return out
}

// letGo lets go of the entities that the source claimed and that are in no line, and deletes those that none claims any more.
// The edges go first, so that they do not keep the nodes.
func (a *applier) letGo() error {
	var named []*schema.Type
	for _, e := range []plan.Entity{plan.Edge, plan.Node} {
		for _, t := range a.tx.Schema().Types(e) {
			if slices.ContainsFunc(a.sync.opts.Types, func(name string) bool { return a.tx.Schema().Type(e, name) == t }) {
				named = append(named, t)
			}
		}
	}
	lost := make([][]uint32, len(named)) // nodes to delete
	for i, t := range named {
		var err error
		if lost[i], err = a.letGoType(t); err != nil {
			return err
		}
	}
	for i, t := range named {
		for k, ord := range lost[i] {
			if k%cancelEvery == 0 && a.ctx.Err() != nil {
				return a.ctx.Err()
			}
			if err := a.deleteNode(t, ord); err != nil {
				return err
			}
		}
	}
	a.sync.cutKept()
	return a.sync.opts.Guard(a.sync.claimed, a.sync.deleted, a.sync.result.Deleted+a.sync.result.Cascaded)
}

// cutKept keeps the first of the noted nodes.
func (s *syncer) cutKept() {
	kept := s.result.KeptFirst
	slices.SortFunc(kept, func(x, y engine.ChangePosition) int {
		return cmp.Or(strings.Compare(x.Type, y.Type), strings.Compare(x.ID, y.ID))
	})
	s.result.KeptFirst = kept[:min(len(kept), engine.MaxKept)]
}

// keep notes a node that stays because of its edges.
func (s *syncer) keep(t *schema.Type, id string) {
	s.result.Kept++
	s.result.KeptFirst = append(s.result.KeptFirst, engine.ChangePosition{Entity: t.Entity.String(), Type: t.Name, ID: strings.Clone(id)})
	if len(s.result.KeptFirst) >= 2*engine.MaxKept {
		s.cutKept()
	}
}

// letGoType lets go of the entities of a type. It deletes edges, and returns the nodes to delete.
func (a *applier) letGoType(t *schema.Type) (lost []uint32, err error) {
	before, found := a.tx.Base().Table(t.Entity, t.Index), a.sync.found[t]
	if !before.Claimed() {
		return nil, nil
	}
	for ord := range before.Ordinals() {
		if ord%cancelEvery == 0 && a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		if !before.Alive(ord) || !a.tx.Table(t).Alive(ord) {
			continue
		}
		text := before.Claims(ord)
		if text == "" {
			continue
		}
		was := membership.Stored(text)
		own, claims := was.Of(a.sync.opts.Source)
		if !claims && !(was.Created && len(was.Sources) == 0) {
			continue
		}
		a.sync.claimed[t.Name]++
		if found != nil && found.Get(int(ord)) {
			continue
		}
		is := was.Release(a.sync.opts.Source)
		switch {
		case len(is.Sources) > 0 || !is.Created:
			if err := a.release(t, ord, own, is); err != nil {
				return nil, err
			}
		case t.Entity == plan.Node:
			lost = append(lost, ord)
		default:
			a.tx.Remove(t, ord)
			if err := a.tx.StoreLate(); err != nil {
				return nil, err
			}
			a.sync.deleted[t.Name]++
			a.sync.result.Deleted++
		}
	}
	return lost, nil
}

// release lets go of an entity that stays.
func (a *applier) release(t *schema.Type, ord uint32, own []string, is *membership.Set) error {
	table := a.tx.Table(t)
	r := version.Row{ID: table.ID(ord), Vals: slices.Clone(table.Values(ord)), Claims: is.String()}
	if t.Entity == plan.Edge {
		r.Src, r.Dst = table.Ends(ord)
	}
	released(t, own, is, func(p int) { r.Vals[p] = value.Null })
	a.tx.PutClaimed(t, r)
	a.sync.result.Released++
	return a.tx.StoreLate()
}

// released calls f with the properties of `own` that become null, because no source of `is` owns them.
func released(t *schema.Type, own []string, is *membership.Set, f func(p int)) {
	for _, name := range own {
		if p, ok := t.Prop(name); ok && t.Props[p].Type.Nullable && !t.Identifies(p) && is.Owner(name, "") == "" {
			f(p)
		}
	}
}

// deleteNode deletes a node, unless an edge keeps it.
func (a *applier) deleteNode(t *schema.Type, ord uint32) error {
	type edge struct {
		t   *schema.Type
		ord uint32
	}
	var edges []edge
	keep := false
	a.tx.Edges(t, ord, func(typ *schema.Type, ord uint32) {
		edges = append(edges, edge{typ, ord})
		found := a.sync.found[typ]
		isNew := ord >= a.tx.Base().Table(plan.Edge, typ.Index).Ordinals()
		keep = keep || !a.sync.opts.Cascade || isNew || found != nil && found.Get(int(ord))
	})
	if keep {
		a.sync.keep(t, a.tx.Table(t).ID(ord))
		return nil
	}
	for _, e := range edges {
		a.tx.Remove(e.t, e.ord)
		a.sync.result.Cascaded++
		if err := a.tx.StoreLate(); err != nil {
			return err
		}
	}
	a.tx.Remove(t, ord)
	a.sync.deleted[t.Name]++
	a.sync.result.Deleted++
	return a.tx.StoreLate()
}
